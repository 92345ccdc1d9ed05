"""What a plan says of two runs is what comes of them."""

import numpy as np
import pytest

from harness.measuring.drawn_runs import chance_of_alarm
from harness.measuring.foresight import sight
from harness.measuring.paired_outcomes import (
    ComparedMetric,
    MetricPairs,
    PairedSample,
    SideOutcomes,
    paired_passes,
)
from harness.measuring.paired_tests import stratified_exact
from harness.measuring.power import mcnemar_power
from harness.measuring.suite_verdicts import judge_runs

DRAWN = 1000


def compared(baseline, candidate, epochs):
    """Return the verdict of a comparison of two runs by the passes of each sample."""
    samples = [
        PairedSample(str(n), SideOutcomes(float(one), epochs), SideOutcomes(float(other), epochs))
        for n, (one, other) in enumerate(zip(baseline, candidate, strict=True))
    ]
    metric = ComparedMetric(name="trial", gating=True)
    return judge_runs([[MetricPairs(metric, samples)]], says_power=False)[0].verdict


def played(before, after, epochs):
    """Return how often runs of these true rates are called REGRESSED."""
    rng = np.random.default_rng(99)
    found = [
        compared(
            rng.binomial(epochs, before).tolist(), rng.binomial(epochs, after).tolist(), epochs
        )
        for _ in range(DRAWN)
    ]
    return found.count("regressed") / DRAWN


def rates(samples, churn):
    """Return true rates of which so many change by chance: some flaky at 50 %, the others none."""
    flaky = round(2 * churn * samples)
    return np.array([1.0] * (samples - flaky) + [0.5] * flaky)


@pytest.mark.parametrize(
    ("samples", "epochs", "churn", "drop"),
    [(10, 3, 0.0, 0.1), (10, 3, 0.1, 0.2), (20, 3, 0.1, 0.05), (40, 2, 0.05, 0.1)],
)
def test_a_plan_of_several_epochs_says_how_often_a_comparison_alarms(samples, epochs, churn, drop):
    plan = sight(samples, epochs, churn=churn, detect=drop)
    before = rates(samples, churn)
    in_all = played(before, np.maximum(before - drop, 0), epochs)
    in_few = before.copy()
    in_few[: round(drop * samples)] = 0.0
    assert plan.chance == pytest.approx(in_all, abs=0.06)
    assert plan.chance_if_whole == pytest.approx(played(before, in_few, epochs), abs=0.06)


@pytest.mark.parametrize(
    ("samples", "epochs", "churn"), [(10, 3, 0.0), (40, 2, 0.05), (250, 3, 0.02)]
)
def test_the_smallest_drop_of_a_plan_is_seen_four_times_in_five(samples, epochs, churn):
    plan = sight(samples, epochs, churn=churn, detect=0.05)
    before = rates(samples, churn)
    seen = played(before, np.maximum(before - plan.detectable, 0), epochs)
    assert seen == pytest.approx(0.8, abs=0.07)


def test_the_samples_and_epochs_needed_see_the_drop():
    plan = sight(10, 3, churn=0.1, detect=0.1)
    before = rates(plan.samples_needed, 0.1)
    assert played(before, np.maximum(before - 0.1, 0), 3) >= 0.75
    before = rates(10, 0.1)
    assert played(before, np.maximum(before - 0.1, 0), plan.epochs_needed) >= 0.75


def test_one_sample_that_breaks_wholly_over_three_epochs_is_seen_in_plan_and_comparison():
    plan = sight(10, 3, churn=0.0, detect=0.1)
    assert compared([3] * 10, [0] + [3] * 9, 3) == "regressed"
    assert plan.chance_if_whole == 1.0
    assert 0 < plan.chance < 0.5


def test_two_epochs_of_it_are_not():
    assert compared([2] * 10, [0] + [2] * 9, 2) == "inconclusive"
    assert sight(10, 2, churn=0.0, detect=0.1).chance_if_whole == 0.0


@pytest.mark.parametrize("detect", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("epochs", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("samples", [4, 10, 20, 100])
def test_samples_that_break_wholly_are_seen_as_a_comparison_does(samples, epochs, detect):
    broken, part = divmod(round(detect * samples, 6), 1)
    if part:
        return
    after = [0] * int(broken) + [epochs] * (samples - int(broken))
    is_seen = compared([epochs] * samples, after, epochs) == "regressed"
    assert sight(samples, epochs, churn=0.0, detect=detect).chance_if_whole == float(is_seen)


def test_at_one_epoch_it_is_as_exact_as_mcnemar():
    found = chance_of_alarm({(0.99, 0.89): 100}, 1)
    regress, improve = 0.99 * 0.11, 0.01 * 0.89
    assert found == pytest.approx(mcnemar_power(100, regress=regress, improve=improve), abs=0.04)


@pytest.mark.parametrize(("passes", "is_alarm"), [((5, 0), True), ((4, 0), True), ((4, 1), False)])
def test_each_p_value_is_that_of_the_test(passes, is_alarm):
    before, after = passes
    p = stratified_exact(paired_passes([(before, 5)], [(after, 5)])).regress
    assert (p <= 0.05) is is_alarm


def test_wide_sums_are_those_of_the_normal_distribution():
    assert chance_of_alarm({(0.5, 0.5): 5000}, 3) == pytest.approx(0.05, abs=0.02)
    assert chance_of_alarm({(0.5, 0.48): 5000}, 3) == pytest.approx(0.97, abs=0.03)
