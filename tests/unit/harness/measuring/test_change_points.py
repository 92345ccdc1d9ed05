"""Since when a sample fails."""

import pytest

from harness.measuring.change_points import change_point


def test_a_drop_is_found_after_its_last_good_night():
    found = change_point([(3, 0)] * 8 + [(0, 3)] * 5)
    assert (found.nights_before, found.fell, found.is_shown) == (8, True, True)


def test_a_rise_is_told_from_a_drop():
    found = change_point([(0, 1)] * 6 + [(1, 0)] * 6)
    assert (found.nights_before, found.fell) == (6, False)


@pytest.mark.parametrize("nights", [[(1, 0)] * 20, [(1, 0), (0, 1)] * 6, [(1, 0)] * 9 + [(0, 1)]])
def test_without_a_change_nothing_is_shown(nights):
    assert not change_point(nights).is_shown


@pytest.mark.parametrize("nights", [[], [(3, 0)], [(0, 0), (3, 0)], [(0, 0), (0, 0)]])
def test_fewer_than_two_nights_with_trials_have_no_change(nights):
    assert change_point(nights) is None


def test_nights_without_a_trial_are_counted_as_nights():
    found = change_point([(3, 0)] * 4 + [(0, 0)] * 3 + [(0, 3)] * 4)
    assert found.nights_before == 4 + 3


def test_a_change_beyond_doubt_has_a_finite_night():
    found = change_point([(1000, 0)] * 50 + [(0, 1000)] * 50)
    assert found.nights_before == 50
    assert found.bayes_factor > 1e300
