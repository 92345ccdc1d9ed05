"""Verdicts: what two runs say of each other, per metric and altogether.

D is candidate - baseline, signed so that positive is better (flipped where low is good). Rates,
differences and margins are fractions (0.05 is 5 points), those of a metric with another unit are
in that unit.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

from harness.types.summaries import Interval

Verdict = Literal["invalid", "regressed", "improved", "no_worse", "inconclusive"]

VERDICT_WORDS: Mapping[Verdict, str] = {
    "invalid": "INVALID",
    "regressed": "REGRESSED",
    "improved": "IMPROVED",
    "no_worse": "NO WORSE",
    "inconclusive": "INCONCLUSIVE",
}
"""How a verdict is shown."""

SUITE_ORDER: tuple[Verdict, ...] = (
    "invalid",
    "regressed",
    "inconclusive",
    "no_worse",
    "improved",
)
"""The verdict of several metrics is the first of these that any gating metric has."""

Question = Literal["fixed_suite", "population"]
"""Whether behaviour changed on these samples, or would on all that they stand for."""

TestName = Literal["stratified_exact", "mcnemar", "sign_flip", "t"]
IntervalName = Literal["tango", "fixed_suite", "t"]
AlarmStage = Literal["suspected", "confirmed"]


class PValues(msgspec.Struct, frozen=True, kw_only=True):
    """One-sided p values of a metric, by one test.

    `regressed` is small where the candidate is worse than chance explains, `improved` where it is
    better. `adjusted_*` are after Holm over the `adjusted_over` gating metrics (times candidates);
    for metrics that do not gate after Benjamini-Hochberg over those, and they decide nothing.
    `least` is the smallest `regressed` that could have come out with as many changed samples,
    where that is above alpha, so that the test could not have alarmed; else None. `test` is None
    where no test can be made; both are 1 then.
    """

    test: TestName | None
    regressed: float
    improved: float
    adjusted_regressed: float
    adjusted_improved: float
    adjusted_over: int
    least: float | None = None


class DifferenceInterval(msgspec.Struct, frozen=True, kw_only=True):
    """D with the ends of its 90 % interval, which no correction for several metrics widens.

    The ends are None, and so is `method`, where the samples show no spread to estimate from.
    """

    value: float
    low: float | None = None
    high: float | None = None
    method: IntervalName | None = None


class Power(msgspec.Struct, frozen=True, kw_only=True):
    """What this comparison could have seen, and how much more it would take.

    `detectable` is the smallest drop seen with 80 % chance, None where none is. `samples_needed`
    are samples in all, with as many epochs, `epochs_needed` epochs of every sample in both runs,
    that would see a drop as large as the margin; None where there is no margin, where there are as
    many already, or (epochs) where they do not help alone. Where nothing changed at all they are
    what says NO WORSE, and `unchanged` is true. `chance_of_margin` is the chance that a drop as
    large as the margin would have been called REGRESSED, where the test is of passes.
    """

    detectable: float | None
    samples_needed: int | None = None
    epochs_needed: int | None = None
    unchanged: bool = False
    chance_of_margin: float | None = None


class MissingOutcomes(msgspec.Struct, frozen=True, kw_only=True):
    """Trials without an outcome, and the verdict under three ways of filling them in.

    Missing are errored trials and those that were planned and never ran. `left_out` is the
    default: errors fail, trials that never ran are left out. `if_failed` counts against the
    candidate: its missing trials fail, the baseline's pass; `if_passed` is the reverse. The last
    two are None for a score whose range is not declared. `decided` says that no verdict holds
    whatever had come of them, so that the missing outcomes decide. `samples` are the ids of those
    with missing outcomes.
    """

    baseline_errored: int
    baseline_never_ran: int
    candidate_errored: int
    candidate_never_ran: int
    samples: tuple[str, ...]
    left_out: Verdict
    if_failed: Verdict | None = None
    if_passed: Verdict | None = None
    decided: bool = False


class MetricVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of two runs.

    `unit` says how to show it: `points` for rates and scores in 0..1, else the metric's unit.
    `reason` says in words why it is invalid or inconclusive. `baseline` and `candidate` are each
    run's own number over the paired samples, with 95 % interval. `samples` are those paired for
    this metric, `regressed`, `improved` and `unchanged` how many of them moved (their mean over
    epochs); `errored` moved only because one side has nothing but errors, which fail by default and
    are in the test as such, but say nothing of the agent. `epochs` are how many trials a sample has
    in each run: the most that any has. `missing` is None where every trial has an outcome.
    `within_margin` says of a regression that the interval excludes drops as large as the margin.
    `p` is None where nothing could be compared, and where a metric is not tested unless it gates:
    `reason` says so then. `power` is told of those that gate.
    """

    metric: str
    verdict: Verdict
    gating: bool
    samples: int = 0
    regressed: int = 0
    improved: int = 0
    errored: int = 0
    unchanged: int = 0
    baseline_epochs: int = 0
    candidate_epochs: int = 0
    baseline: Interval = Interval(value=None)
    candidate: Interval = Interval(value=None)
    unit: str = "points"
    lower_is_better: bool = False
    reason: str | None = None
    difference: DifferenceInterval | None = None
    p: PValues | None = None
    margin: float | None = None
    within_margin: bool = False
    power: Power | None = None
    missing: MissingOutcomes | None = None
    warnings: tuple[str, ...] = ()


class SuiteVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the gating metrics of two runs say together: the gravest of their verdicts.

    `decided_by` are the metrics that have it. `reason` says why, where no metric was judged.
    `stage` is that of a regression: suspected until fresh trials of both confirmed it.
    """

    verdict: Verdict
    question: Question
    metrics: tuple[MetricVerdict, ...] = ()
    decided_by: tuple[str, ...] = ()
    reason: str | None = None
    stage: AlarmStage | None = None
    alpha: float = 0.05
