"""Exact and Jeffreys' intervals, at the edges."""

import pytest

from harness.measuring.beta_intervals import clopper_pearson, failure_rate_bound, jeffreys
from harness.measuring.intervals import wilson


def test_the_exact_interval_ends_at_0_and_1_where_none_or_all_pass():
    assert clopper_pearson(0, 5)[0] == 0.0
    assert clopper_pearson(5, 5)[1] == 1.0


@pytest.mark.parametrize(("passes", "trials"), [(0, 10), (3, 10), (45, 50), (930, 1000)])
def test_the_exact_interval_holds_wilsons(passes, trials):
    low, high = clopper_pearson(passes, trials)
    inner = wilson(passes / trials, trials)
    assert low <= inner[0] + 0.02
    assert high >= inner[1] - 0.02
    assert high - low > inner[1] - inner[0]


def test_the_interval_of_no_trial_is_that_of_the_prior():
    low, high = jeffreys(0, 0)
    assert low + high == pytest.approx(1)
    assert low < 0.01


@pytest.mark.parametrize(("trials", "below"), [(148, False), (149, True)])
def test_149_clean_trials_say_below_two_percent(trials, below):
    assert (failure_rate_bound(trials) < 0.02) is below
