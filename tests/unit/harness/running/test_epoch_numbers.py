"""Epochs of records: told, or counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.running.epoch_numbers import EpochNumbers


def number(records):
    """Number the records as they are read: heard in a first pass, numbered in the second."""
    numbers = EpochNumbers()
    heard = [numbers.number(sample, model, told)[1] for sample, model, told in records]
    numbers.begin_again()
    found = [numbers.number(sample, model, told) for sample, model, told in records]
    assert heard == [moved for _, moved in found]
    return found, numbers.most


def epochs(*told):
    return [epoch for epoch, _ in number([("a", "x", one) for one in told])[0]]


def test_repeats_are_counted_for_each_sample_on_each_model():
    records = [("a", "x", None), ("a", "y", None), ("b", "x", None), ("a", "x", None)]
    assert number(records) == ([(0, False), (0, False), (0, False), (1, False)], 2)


def test_what_is_told_counts():
    assert number([("a", "x", 3), ("a", "x", 1)]) == ([(3, False), (1, False)], 2)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ((0, 0, 1, 0), [0, 2, 1, 3]),
        ((1, 1, 0), [1, 2, 0]),
        ((1, 1, 2, 0), [1, 3, 2, 0]),
        ((None, 0, None, 2), [1, 0, 3, 2]),
        ((2, 2, 2), [2, 3, 4]),
    ],
)
def test_a_repeat_gets_the_next_epoch_that_no_record_tells(told, expected):
    assert epochs(*told) == expected


def test_a_repeat_of_one_sample_moves_no_record_of_another():
    records = [("A", "x", 0), ("A", "x", 0), ("B", "x", 2), ("B", "x", 1), ("B", "x", 0)]
    assert number(records)[0] == [(0, False), (1, True), (2, False), (1, False), (0, False)]


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.none() | st.integers(0, 4)),
        max_size=25,
    )
)
def test_no_two_records_are_the_same_trial_and_only_true_repeats_move(records):
    numbered, most = number(records)
    trials = [(s, m, epoch) for (s, m, _), (epoch, _) in zip(records, numbered, strict=True)]
    assert len(set(trials)) == len(trials)
    assert number(records) == (numbered, most)
    for index, (record, (epoch, moved)) in enumerate(zip(records, numbered, strict=True)):
        is_repeat = record[2] is not None and record in records[:index]
        assert moved == is_repeat
        assert is_repeat or record[2] in (None, epoch)
    for pair in {record[:2] for record in records}:
        given_out = [
            epoch
            for record, (epoch, moved) in zip(records, numbered, strict=True)
            if record[:2] == pair and (moved or record[2] is None)
        ]
        assert given_out == sorted(given_out)
