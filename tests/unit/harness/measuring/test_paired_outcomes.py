"""What two runs' outcomes are, and what missing ones are taken for."""

import pytest

from harness.measuring.paired_outcomes import (
    ComparedMetric,
    MetricPairs,
    Pair,
    PairedSample,
    SideOutcomes,
    filled,
)

BROKEN = PairedSample(
    "s", SideOutcomes(2, 2, errored=1), SideOutcomes(1, 1, errored=1, never_ran=1)
)


def pairs_of(sample, filling, **metric):
    return filled(MetricPairs(ComparedMetric(name="m", **metric), [sample]), filling)


@pytest.mark.parametrize(
    ("filling", "pair"),
    [
        ("left_out", Pair(2, 3, 1, 2)),
        ("if_failed", Pair(3, 3, 1, 3)),
        ("if_passed", Pair(2, 3, 3, 3)),
    ],
)
def test_missing_trials_fail_pass_or_stay_out(filling, pair):
    assert pairs_of(BROKEN, filling) == [(pair, 1)]


@pytest.mark.parametrize("filling", ["left_out", "if_failed", "if_passed"])
def test_missing_scores_without_a_declared_range_stay_out(filling):
    assert pairs_of(BROKEN, filling, kind="score") == [(Pair(2, 2, 1, 1), 1)]


def test_missing_scores_take_the_ends_of_their_range():
    low, high = (
        pairs_of(BROKEN, filling, kind="score", lowest=-1.0, highest=5.0)
        for filling in ("if_failed", "if_passed")
    )
    assert low == [(Pair(2 + 5, 3, 1 - 2, 3), 1)]
    assert high == [(Pair(2 - 1, 3, 1 + 10, 3), 1)]


def test_where_low_is_good_more_is_worse_and_the_highest_value_is_the_worst():
    cost = {"kind": "score", "lowest": 0.0, "highest": 9.0, "lower_is_better": True}
    assert pairs_of(BROKEN, "left_out", **cost) == [(Pair(-2 - 9, 3, -1 - 9, 2), 1)]


def test_passes_where_low_is_good_are_counted_as_failures():
    sample = PairedSample("s", SideOutcomes(1, 3), SideOutcomes(3, 3))
    assert pairs_of(sample, "left_out", lower_is_better=True) == [(Pair(2, 3, 0, 3), 1)]


def test_a_sample_without_a_trial_on_one_side_is_left_out():
    sample = PairedSample("s", SideOutcomes(1, 1), SideOutcomes(0, 0, never_ran=1))
    assert pairs_of(sample, "left_out") == []
    assert pairs_of(sample, "if_failed") == [(Pair(1, 1, 0, 1), 1)]


@pytest.mark.parametrize("margin", [0.0, -0.05])
def test_a_margin_is_above_0(margin):
    with pytest.raises(ValueError, match="must be above 0"):
        ComparedMetric(name="m", margin=margin)
