"""What a suite can see, and what it would take."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from harness.measuring.power import (
    detectable_by_t,
    detectable_from_churn,
    detectable_from_error,
    expected_churn,
    least_regressions,
    mcnemar_power,
    planned_error,
    samples_by_t,
    samples_for_churn,
    times_as_much,
    unchanged_samples_needed,
    verdict_chances,
)


@pytest.mark.parametrize("changed", range(40))
def test_the_regressions_that_alarm_are_the_fewest_that_do(changed):
    tails = {
        k: sum(math.comb(changed, i) for i in range(k, changed + 1)) / 2**changed
        for k in range(changed + 1)
    }
    assert least_regressions(changed) == next((k for k, p in tails.items() if p <= 0.05), None)


def test_two_hundred_samples_of_which_eight_changed_see_three_and_a_half_points():
    assert detectable_from_churn(0.04, 200) == pytest.approx(0.0352, abs=5e-5)
    assert samples_for_churn(0.04, 0.02) == 619
    assert times_as_much(0.0352, 0.02, 1) == 4


def test_without_a_change_five_regressions_are_the_least_that_is_seen():
    assert detectable_from_churn(0.0, 100) == 0.05
    assert detectable_from_error(0.0, 5 / 300) == 5 / 300


def test_a_planned_comparison_sees_what_one_that_was_made_would_have_seen():
    rates = [0.9] * 60 + [0.5] * 40
    assert detectable_from_error(planned_error(rates, 1)) == pytest.approx(
        detectable_from_churn(expected_churn(rates), 100)
    )
    assert planned_error(rates, 4) == pytest.approx(planned_error(rates, 1) / 2)


@pytest.mark.parametrize(("margin", "samples"), [(0.02, 133), (0.05, 52), (1.0, 1)])
def test_so_many_unchanged_samples_say_no_worse(margin, samples):
    assert unchanged_samples_needed(margin) == samples
    assert samples_for_churn(0.0, margin) == samples


def test_a_drop_that_cannot_come_is_never_seen():
    assert mcnemar_power(100, regress=0.0, improve=0.1) == 0.0
    assert mcnemar_power(4, regress=1.0, improve=0.0) == 0.0


@pytest.mark.parametrize("samples", [2, 3, 5, 10, 40])
def test_the_t_test_sees_the_smallest_drop_four_times_in_five(samples):
    drop = detectable_by_t(2.0, samples)
    drawn = np.random.default_rng(7).normal(-drop, 2.0, (20_000, samples))
    alarms = ttest_1samp(drawn, 0, axis=1, alternative="less").pvalue <= 0.05
    assert alarms.mean() == pytest.approx(0.8, abs=0.01)
    assert drop > detectable_from_error(2.0 / math.sqrt(samples))


@pytest.mark.parametrize("margin", [0.01, 0.1, 0.5, 3.0, 50.0])
def test_the_samples_needed_by_the_t_test_see_the_margin_and_one_fewer_do_not(margin):
    found = samples_by_t(2.0, margin)
    assert detectable_by_t(2.0, found) <= margin * (1 + 1e-9)
    assert found == 2 or detectable_by_t(2.0, found - 1) > margin


@pytest.mark.parametrize(
    ("samples", "margin", "drop", "chances"),
    [
        (50, 0.05, 0.0, (0.00, 0.25, 0.74)),
        (50, 0.05, 0.05, (0.13, 0.04, 0.84)),
        (50, 0.05, 0.1, (0.40, 0.00, 0.59)),
        (200, 0.05, 0.0, (0.03, 0.82, 0.13)),
        (200, 0.05, 0.05, (0.63, 0.05, 0.32)),
        (200, 0.05, 0.1, (0.97, 0.00, 0.03)),
        (1000, 0.02, 0.0, (0.04, 0.77, 0.15)),
        (1000, 0.02, 0.02, (0.69, 0.05, 0.26)),
        (1000, 0.02, 0.05, (1.0, 0.00, 0.00)),
        (2000, 0.02, 0.0, (0.04, 0.92, 0.00)),
        (2000, 0.02, 0.02, (0.93, 0.05, 0.02)),
        (2000, 0.02, 0.05, (1.0, 0.00, 0.00)),
    ],
)
def test_the_chances_of_verdicts_are_as_published(samples, margin, drop, chances):
    found = verdict_chances(samples, margin=margin, drop=drop)
    assert (found.regressed, found.no_worse, found.inconclusive) == pytest.approx(
        chances, abs=0.006
    )
    whole = found.regressed + found.improved + found.no_worse + found.inconclusive
    assert whole == pytest.approx(1, abs=1e-6)
