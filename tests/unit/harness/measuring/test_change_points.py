"""Since when a sample fails."""

import random

import pytest

from harness.measuring.change_points import alike_sums, change_point


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


def drawn(rates, ran, *, epochs=3, seed=1):
    """Return samples of these rates over nights, each on those nights on which it ran."""
    chance = random.Random(seed)

    def night(rate):
        passes = sum(chance.random() < rate for _ in range(epochs))
        return passes, epochs - passes

    return [
        [night(rate) if place in on else (0, 0) for place in range(90)]
        for rate, on in zip(rates, ran, strict=True)
    ]


def test_sums_of_samples_that_all_ran_are_plain_ones():
    samples = drawn([0.9, 0.2, 0.5], [range(90)] * 3)
    plain = [tuple(map(sum, zip(*night, strict=True))) for night in zip(*samples, strict=True)]
    for found, expected in zip(alike_sums(samples), plain, strict=True):
        assert found == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("late", [range(8, 90), range(82), range(3, 87)])
def test_hard_samples_that_did_not_run_on_some_nights_are_no_change(late, seed):
    samples = drawn([0.99] * 60 + [0.2] * 10, [range(90)] * 60 + [late] * 10, seed=seed)
    plain = [tuple(map(sum, zip(*night, strict=True))) for night in zip(*samples, strict=True)]
    assert change_point(plain).is_shown
    assert not change_point(alike_sums(samples)).is_shown


def test_a_change_is_found_although_samples_came_later():
    before = drawn([0.9] * 40 + [0.2] * 10, [range(90)] * 40 + [range(8, 90)] * 10)
    after = drawn([0.8] * 40 + [0.2] * 10, [range(90)] * 50, seed=2)
    samples = [[*one[:60], *other[60:]] for one, other in zip(before, after, strict=True)]
    found = change_point(alike_sums(samples))
    assert found.is_shown
    assert found.fell
    assert found.nights_before == pytest.approx(60, abs=3)


def test_no_trial_at_all_is_no_rate():
    assert alike_sums([[(0, 0), (0, 0)]]) == [(0.0, 0.0), (0.0, 0.0)]
