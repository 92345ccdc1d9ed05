"""Intervals of the difference of two runs, at the edges of what they are given."""

import pytest

from harness.measuring.paired_differences import Moves, spread_of
from harness.measuring.paired_intervals import (
    fixed_suite_interval,
    t_interval,
    tango_interval,
    tango_score,
)
from harness.measuring.paired_outcomes import paired_passes

Z2 = 1.6448536269514722**2


def scores(differences):
    return paired_passes([(0.0, 1)] * len(differences), [(x, 1) for x in differences])


@pytest.mark.parametrize("n", [1, 100, 149])
def test_tangos_interval_of_no_change_has_a_width(n):
    assert tango_interval(Moves(0, 0, n)) == pytest.approx((-Z2 / (n + Z2), Z2 / (n + Z2)))


def test_where_all_samples_moved_that_end_is_the_last():
    assert tango_interval(Moves(20, 0, 0))[0] == -1
    assert tango_interval(Moves(0, 20, 0))[1] == 1


def test_tangos_score_of_what_was_seen_is_0():
    assert tango_score(0.0, Moves(0, 0, 10)) == 0
    assert tango_score(-0.07, Moves(10, 3, 87)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("moves", "low", "high"),
    [
        (Moves(10, 3, 87), -0.135, -0.012),
        (Moves(1, 8, 91), 0.025, 0.128),
        (Moves(5, 3, 192), -0.038, 0.015),
        (Moves(26, 12, 962), -0.025, -0.004),
    ],
)
def test_tangos_90_percent_interval_is_as_published(moves, low, high):
    assert tango_interval(moves) == pytest.approx((low, high), abs=5e-4)


def test_a_fixed_suite_interval_is_as_published():
    before, after = [3, 3, 2, 3, 0, 3, 1, 3], [1, 2, 1, 3, 0, 1, 2, 0]
    pairs = paired_passes([(a, 3) for a in before], [(b, 3) for b in after])
    assert fixed_suite_interval(pairs) == pytest.approx((-0.515, -0.152), abs=5e-4)


def test_a_spotless_night_is_not_more_certain_than_one_with_a_slip():
    spotless = paired_passes([(3, 3)] * 50, [(3, 3)] * 50)
    slipped = paired_passes([(3, 3)] * 50, [(3, 3)] * 49 + [(2, 3)])
    assert fixed_suite_interval(spotless)[0] == pytest.approx(-Z2 / (150 + Z2))
    assert fixed_suite_interval(slipped)[0] < fixed_suite_interval(spotless)[0]


def test_scores_without_spread_have_no_interval_and_passes_have_one():
    assert t_interval(spread_of(scores([0.1] * 5)), is_pass=False) is None
    low, high = t_interval(spread_of(scores([0.0] * 5)), is_pass=True)
    assert (low, high) == pytest.approx((-Z2 / (5 + Z2), Z2 / (5 + Z2)))


def test_one_sample_has_no_interval_over_samples():
    assert t_interval(spread_of(scores([0.5])), is_pass=True) is None


def test_ends_stay_within_what_can_be():
    found = t_interval(spread_of(scores([1.0, 1.0, 0.2])), is_pass=False, reach=1.0)
    assert found[1] == 1.0
