"""How often verdicts come where the truth is known; seeded, and the larger of it in scripts."""

import random

import pytest
from scipy.special import betainc

from harness.measuring.intervals import wilson
from harness.measuring.paired_outcomes import (
    ComparedMetric,
    MetricPairs,
    PairedSample,
    SideOutcomes,
)
from harness.measuring.suite_verdicts import judge_runs

FLAKY = [0.98] * 80 + [0.5] * 20
METRIC = ComparedMetric(name="trial", gating=True, margin=0.05)


def share_regressed(before, after, epochs, repeats):
    chance = random.Random(f"{before}{after}{epochs}")

    def side(rate):
        return SideOutcomes(sum(chance.random() < rate for _ in range(epochs)), epochs)

    found = [
        judge_runs(
            [
                [
                    MetricPairs(
                        METRIC,
                        [
                            PairedSample(str(n), side(a), side(b))
                            for n, (a, b) in enumerate(zip(before, after, strict=True))
                        ],
                    )
                ]
            ],
            says_power=False,
        )[0].verdict
        for _ in range(repeats)
    ]
    return found.count("regressed") / repeats


@pytest.mark.parametrize("epochs", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("rates", [[0.95] * 100, FLAKY], ids=["steady", "flaky"])
def test_with_nothing_changed_regressed_seldom_comes(rates, epochs):
    # Three standard errors of 200 repeats above the 5 % that exact tests keep below.
    assert share_regressed(rates, rates, epochs, 200) <= 0.05 + 0.045


def test_what_breaks_ten_samples_of_a_hundred_is_found():
    after = [0.0] * 10 + [0.9] * 90
    assert share_regressed([0.9] * 100, after, 3, 200) >= 0.85


@pytest.mark.parametrize("trials", [10, 20, 50, 100, 1000])
def test_wilson_covers_as_much_as_it_says(trials):
    covered = 0.0
    for passes in range(trials + 1):
        low, high = wilson(passes / trials, trials)
        a, b = passes + 1, trials - passes + 1
        covered += betainc(a, b, high) - betainc(a, b, low)
    assert 0.945 <= covered / (trials + 1) <= 0.96
