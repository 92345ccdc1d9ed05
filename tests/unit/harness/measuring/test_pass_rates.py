"""Pass rates over one and several epochs, and what they are worth."""

import pytest

from harness.measuring.pass_rates import effective_trials, pass_rate, worth
from harness.types.summaries import Interval

MIXED = {(4, 4): 2, (3, 4): 1, (2, 4): 1, (0, 4): 1}


def ends(tries):
    rate = pass_rate(tries)
    return rate.low, rate.high


def test_repeats_of_a_sample_are_not_taken_for_samples():
    assert pass_rate(MIXED).value == pytest.approx(0.65)
    assert ends(MIXED) == pytest.approx((0.298287050783, 0.890274353735), abs=1e-9)


def test_samples_that_all_pass_every_epoch_count_once_each():
    assert ends({(3, 3): 12}) == pytest.approx((0.757505993345, 1.0), abs=1e-9)


def test_no_trial_has_no_rate():
    assert pass_rate({}) == Interval(value=None)


def test_one_sample_in_several_epochs_has_no_interval():
    assert pass_rate({(2, 4): 1}) == Interval(value=0.5)


def test_one_sample_in_one_epoch_has_one():
    assert ends({(1, 1): 1}) == pytest.approx((0.206549, 1.0), abs=1e-6)


def test_no_better_result_has_a_lower_low_end():
    perfect, slip = {(3, 3): 20}, {(3, 3): 19, (2, 3): 1}
    assert ends(perfect)[0] == ends(slip)[0] == pytest.approx(0.838875, abs=1e-6)


def test_no_worse_result_has_a_higher_high_end():
    nothing, luck = {(0, 3): 20}, {(0, 3): 19, (1, 3): 1}
    assert ends(nothing)[1] == ends(luck)[1] == pytest.approx(0.161125, abs=1e-6)


@pytest.mark.parametrize("tries", [{(1, 3): 2}, {(1, 3): 49}, {(7, 10): 7}, {(3, 3): 5}])
def test_samples_of_one_rate_count_once_each(tries):
    assert effective_trials(tries) == sum(tries.values())


@pytest.mark.parametrize(
    ("tries", "found"),
    [
        (MIXED, 6.5),
        ({(1, 1): 45, (0, 1): 5}, 50),
        ({(3, 3): 12}, 12),
        ({(0, 3): 12}, 12),
        ({(3, 3): 19, (2, 3): 1}, 24.881156),
        ({(2, 4): 1}, None),
        ({}, None),
    ],
)
def test_an_interval_is_worth_as_many_trials_as_would_show_it(tries, found):
    assert worth(pass_rate(tries)) == (found if found is None else pytest.approx(found, abs=1e-6))


def test_samples_may_have_very_different_numbers_of_epochs():
    tries = {(count, count): 1 for count in range(1, 40)} | {(5, 41): 1, (6, 43): 1}
    low, high = ends(tries)
    assert 0.7 < low < pass_rate(tries).value < high < 1
