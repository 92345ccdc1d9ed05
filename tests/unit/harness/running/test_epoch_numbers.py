"""Epochs of records: told, or counted."""

from hypothesis import given
from hypothesis import strategies as st

from harness.running.epoch_numbers import EpochNumbers


def number(records):
    numbers = EpochNumbers()
    return [numbers.number(sample, model, told) for sample, model, told in records], numbers.most


def test_repeats_are_counted_for_each_sample_on_each_model():
    records = [("a", "x", None), ("a", "y", None), ("b", "x", None), ("a", "x", None)]
    assert number(records) == ([(0, False), (0, False), (0, False), (1, False)], 2)


def test_what_is_told_counts():
    assert number([("a", "x", 3), ("a", "x", 1)]) == ([(3, False), (1, False)], 2)


def test_an_epoch_that_is_taken_becomes_the_next_free_one():
    told = [("a", "x", 0), ("a", "x", 0), ("a", "x", 1), ("a", "x", 0)]
    assert [epoch for epoch, _ in number(told)[0]] == [0, 1, 2, 3]
    assert [moved for _, moved in number(told)[0]] == [False, True, True, True]


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.none() | st.integers(0, 4)),
        max_size=25,
    )
)
def test_no_two_records_are_the_same_trial_and_numbering_again_gives_the_same(records):
    numbered, most = number(records)
    trials = [(s, m, epoch) for (s, m, _), (epoch, _) in zip(records, numbered, strict=True)]
    assert len(set(trials)) == len(trials)
    assert number(records) == (numbered, most)
