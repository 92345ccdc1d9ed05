"""What a comparison says it could have seen."""

import numpy as np
import pytest

from harness.measuring.foresight import sight
from harness.measuring.hindsight import churn_seen, power_of
from harness.measuring.metric_comparing import measure
from harness.measuring.paired_outcomes import ComparedMetric, paired_passes
from harness.measuring.paired_tests import sign_flip


def power(baseline, candidate, question="fixed_suite", margin=0.05):
    metric = ComparedMetric(name="trial", gating=True, margin=margin)
    return power_of(measure(metric, paired_passes(baseline, candidate), question))


@pytest.mark.parametrize(("samples", "epochs"), [(24, 1), (100, 1), (30, 2), (40, 3), (500, 3)])
def test_it_is_what_a_plan_says(samples, epochs):
    flaky = 0 if epochs == 1 else 2
    side = [(1, epochs)] * flaky + [(epochs, epochs)] * (samples - flaky)
    found = power(side, side)
    churn = churn_seen(paired_passes(side, side))
    plan = sight(samples, epochs, churn=churn, detect=0.05)
    assert found.detectable == plan.detectable
    assert found.chance_of_margin == plan.chance
    if flaky and plan.chance < 0.8:
        needed = (found.samples_needed, found.epochs_needed)
        assert needed == (plan.samples_needed, plan.epochs_needed)


@pytest.mark.parametrize(
    ("baseline", "candidate", "churn"),
    [
        ([(1, 1), (1, 1)], [(0, 1), (1, 1)], 0.5),
        ([(2, 2), (1, 2)], [(0, 2), (2, 2)], 0.25),
        ([(1, 1)], [(1, 3)], 2 / 3),
        ([(3, 3)], [(0, 3)], 0.0),
    ],
)
def test_what_changes_by_chance_is_seen_within_runs_where_it_can_be(baseline, candidate, churn):
    assert churn_seen(paired_passes(baseline, candidate)) == pytest.approx(churn)


@pytest.mark.parametrize("question", ["fixed_suite", "population"])
@pytest.mark.parametrize(
    ("epochs", "samples", "longer"),
    [((1, 1), 52, 3), ((1, 3), 52, 3), ((3, 1), 52, 3), ((2, 3), 26, 3)],
)
def test_where_nothing_changed_so_many_unchanged_samples_say_no_worse(
    epochs, samples, longer, question
):
    found = power([(epochs[0],) * 2] * 20, [(epochs[1],) * 2] * 20, question)
    assert found.unchanged
    if question == "fixed_suite":
        assert (found.samples_needed, found.epochs_needed) == (samples, longer)
    else:
        assert found.samples_needed == 52


def test_the_unchanged_samples_that_are_needed_say_no_worse_and_one_fewer_do_not():
    for epochs in ((1, 1), (1, 3)):
        metric = ComparedMetric(name="trial", gating=True, margin=0.05)
        lows = [
            measure(
                metric,
                paired_passes([(epochs[0],) * 2] * n, [(epochs[1],) * 2] * n),
                "fixed_suite",
            ).difference.low
            for n in (51, 52)
        ]
        assert lows[0] <= -0.05 < lows[1]


@pytest.mark.parametrize("samples", [1, 2, 3, 4])
def test_too_few_samples_see_no_drop_at_all(samples):
    assert power([(1, 1)] * samples, [(1, 1)] * samples).detectable is None
    side = [(2, 2)] * samples
    assert power(side, side, "population").detectable is None


def test_a_population_is_seen_by_how_its_samples_differ():
    before, after = [(2, 2)] * 20, [(1, 2)] * 4 + [(2, 2)] * 16
    found = power(before, after, "population")
    assert found.samples_needed == pytest.approx(168, abs=3)
    assert power(before * 10, after * 10, "population").samples_needed is None


@pytest.mark.parametrize("flaky", [0, 4])
@pytest.mark.parametrize(("samples", "epochs"), [(24, (2, 2)), (24, (1, 3)), (60, (3, 3))])
def test_the_smallest_drop_of_a_population_is_seen_four_times_in_five(samples, epochs, flaky):
    rng = np.random.default_rng(8)
    rates = np.array([0.5] * flaky + [1.0] * (samples - flaky))

    def runs(drop):
        after = np.maximum(rates - drop, 0.0)
        sides = zip(epochs, (rates, after), strict=True)
        one, other = ([(c, k) for c in rng.binomial(k, rate).tolist()] for k, rate in sides)
        return paired_passes(one, other)

    metric = ComparedMetric(name="trial", gating=True)
    found = [power_of(measure(metric, runs(0.0), "population")).detectable for _ in range(60)]
    seen = sum(sign_flip(runs(sum(found) / len(found))).regress <= 0.05 for _ in range(600)) / 600
    assert seen == pytest.approx(0.8, abs=0.1)
