import pytest

from harness.measuring.sample_changes import sample_changes

STEADY = [(3, 0)] * 20


def nights(*parts):
    return [night for count, night in parts for _ in range(count)]


def test_a_sample_that_fails_from_one_night_on_changed_on_that_night():
    found = sample_changes({"a": nights((12, (3, 0)), (8, (0, 3))), "b": STEADY})
    assert [(one.sample_id, one.night, one.fell) for one in found] == [("a", 12, True)]
    assert found[0].bayes_factor > 1000
    assert (found[0].start, found[0].end) == (0, 20)


def test_a_sample_that_passes_from_one_night_on_rose():
    found = sample_changes({"a": nights((12, (0, 3)), (8, (3, 0)))})
    assert [(one.night, one.fell) for one in found] == [(12, False)]


def test_a_sample_that_broke_and_was_mended_changed_twice():
    found = sample_changes({"a": nights((10, (3, 0)), (6, (0, 3)), (10, (3, 0)))})
    assert [(one.night, one.fell, one.start, one.end) for one in found] == [
        (10, True, 0, 16),
        (16, False, 10, 26),
    ]


@pytest.mark.parametrize(
    "of",
    [
        pytest.param(STEADY, id="always passes"),
        pytest.param(nights((20, (0, 3))), id="always fails"),
        pytest.param([(n % 2, 1 - n % 2) for n in range(20)], id="passes every other night"),
        pytest.param(nights((10, (3, 0)), (1, (2, 1)), (9, (3, 0))), id="slipped once"),
        pytest.param([(0, 0)] * 20, id="never ran"),
        pytest.param([], id="no night"),
        pytest.param([(3, 0)], id="one night"),
    ],
)
def test_what_does_not_change_is_not_found(of):
    assert sample_changes({"a": of}) == []


def test_weak_evidence_on_one_of_many_samples_is_not_enough():
    weak = nights((8, (1, 0)), (3, (0, 1)))
    alone = sample_changes({"a": weak})
    among = sample_changes({"a": weak} | {f"s{n}": STEADY[:11] for n in range(500)})
    assert [one.sample_id for one in alone] == ["a"]
    assert among == []


def test_evidence_on_many_samples_at_once_counts_for_more():
    weak = nights((8, (1, 0)), (4, (0, 1)))
    few = {"a": weak} | {f"s{n}": STEADY[:12] for n in range(100)}
    many = {f"a{n}": weak for n in range(100)} | few
    assert sample_changes(few) == []
    assert len(sample_changes(many)) == 101


def test_samples_that_may_have_changed_with_the_others_changed_with_them():
    others = {f"s{n}": nights((12, (1, 0)), (9, (0, 1))) for n in range(5)}
    unsure = [(int(c), 1 - int(c)) for c in "111011011110000000000"]
    assert [one.night for one in sample_changes({"a": unsure})] == [11]
    assert {one.night for one in sample_changes({"a": unsure} | others)} == {12}


def test_nights_without_a_trial_are_counted():
    gaps = nights((6, (3, 0)), (3, (0, 0)), (6, (0, 3)))
    assert [one.night for one in sample_changes({"a": gaps})] == [9]
