"""What two runs see is what comes of runs that are played."""

import numpy as np
import pytest

from harness.measuring.paired_outcomes import paired_passes
from harness.measuring.paired_tests import stratified_exact
from harness.measuring.run_pairs import RunPair

PLAYED = 1500


def played(runs, drop):
    """Return how often two runs come out as REGRESSED where every sample passes less often."""
    rng = np.random.default_rng(5)
    flaky = round(2 * runs.churn * runs.samples)
    before = np.array([0.5] * flaky + [1.0] * (runs.samples - flaky))
    after = np.maximum(before - drop, 0.0)
    alarms = 0
    for _ in range(PLAYED):
        passes = rng.binomial(runs.baseline_epochs, before).tolist()
        later = rng.binomial(runs.candidate_epochs, after).tolist()
        pairs = paired_passes(
            [(one, runs.baseline_epochs) for one in passes],
            [(one, runs.candidate_epochs) for one in later],
        )
        alarms += stratified_exact(pairs).regress <= 0.05
    return alarms / PLAYED


@pytest.mark.parametrize(
    ("samples", "before", "after", "churn"),
    [
        (24, 1, 1, 0.0),
        (200, 1, 1, 0.04),
        (100, 1, 1, 0.1),
        (30, 2, 2, 1 / 30),
        (100, 3, 3, 0.1),
        (24, 1, 3, 0.0),
        (40, 5, 2, 0.05),
        (12, 20, 20, 0.125),
        (400, 3, 3, 0.05),
    ],
)
def test_the_smallest_drop_is_seen_four_times_in_five(samples, before, after, churn):
    runs = RunPair(samples, before, after, churn)
    drop = runs.detectable()
    assert runs.chance(drop) >= 0.8
    assert played(runs, drop) == pytest.approx(0.8, abs=0.045)


@pytest.mark.parametrize(
    ("samples", "epochs", "churn", "drop"),
    [(200, 1, 0.04, 0.02), (100, 1, 0.1, 0.079), (50, 1, 0.2, 0.2), (30, 2, 1 / 30, 0.083)],
)
def test_a_drop_is_seen_as_often_as_is_said(samples, epochs, churn, drop):
    runs = RunPair(samples, epochs, epochs, churn)
    assert runs.chance(drop) == pytest.approx(played(runs, drop), abs=0.04)


@pytest.mark.parametrize(
    ("samples", "epochs", "churn", "drop"), [(50, 1, 0.04, 0.05), (30, 2, 0.1, 0.05)]
)
def test_the_samples_and_epochs_needed_see_the_drop(samples, epochs, churn, drop):
    runs = RunPair(samples, epochs, epochs, churn)
    more = RunPair(runs.samples_needed(drop), epochs, epochs, churn)
    longer = RunPair(samples, runs.epochs_needed(drop), runs.epochs_needed(drop), churn)
    for enough in (more, longer):
        assert played(enough, drop) == pytest.approx(0.82, abs=0.06)


def test_a_run_of_more_epochs_on_one_side_sees_more_than_none_and_less_than_both():
    seen = [RunPair(40, *both, 0.05).detectable() for both in ((1, 1), (1, 3), (3, 3))]
    assert seen == sorted(seen, reverse=True)
    needed = [RunPair(40, *both, 0.05).samples_needed(0.05) for both in ((1, 1), (1, 3), (3, 3))]
    assert needed == sorted(needed, reverse=True)
    assert needed[1] < needed[0]


@pytest.mark.parametrize("churn", [0.5, 0.9, 1.0])
def test_samples_that_are_coin_tosses_still_show_a_drop_where_there_are_many(churn):
    assert RunPair(3, 1, 1, churn).detectable() is None
    assert 0 < RunPair(1000, 1, 1, churn).detectable() < 0.1


@pytest.mark.parametrize("drop", [1e-300, 1e-9, 1.0, 2.0])
def test_drops_of_any_size_need_a_number_of_samples(drop):
    runs = RunPair(20, 2, 2, 0.1)
    assert runs.samples_needed(drop) >= 1
    assert runs.epochs_needed(drop) >= 1


def test_more_than_can_be_looked_at_is_as_the_normal_distribution_says():
    assert RunPair(100_000, 1, 1, 0.1).detectable() == pytest.approx(0.0025, abs=1e-4)
