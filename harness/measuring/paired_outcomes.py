"""The outcomes of two runs, sample by sample, and what missing ones are taken for."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

MetricKind = Literal["pass", "score"]
Filling = Literal["left_out", "if_failed", "if_passed"]
"""What missing outcomes are taken for.

`left_out`: errors fail, trials that never ran are left out. `if_failed`: the candidate's missing
trials fail, the baseline's pass. `if_passed`: the reverse.
"""


class SideOutcomes(NamedTuple):
    """What one run has of one sample.

    `total` sums the values of the `graded` trials: 1 for a pass and 0 for a failure (of the agent
    too), or scores. `errored` trials have no grade, `never_ran` were planned and have no trial.
    """

    total: float
    graded: int
    errored: int = 0
    never_ran: int = 0

    @property
    def has_only_errors(self) -> bool:
        """Say whether it has nothing but errors, which say nothing of the agent."""
        return self.errored > 0 and not self.graded


class PairedSample(NamedTuple):
    """One sample, unchanged, in both runs."""

    sample_id: str
    baseline: SideOutcomes
    candidate: SideOutcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedMetric:
    """What is compared, and what a drop of it means.

    `kind` is `pass` for values that are 0 or 1, else `score`. `margin` > 0 is the drop that one
    can live with, in the metric's unit. `lowest` and `highest` bound the values of a score, where
    declared. `lower_is_better` as for cost and latency. `unit` is `points` for values in 0..1.
    `moves_together` says that something which is not the agent (the load of the machine and of the
    provider) moves all trials of a run at once, so that a test over samples takes noise between
    runs for a change.
    """

    name: str
    kind: MetricKind = "pass"
    gating: bool = False
    margin: float | None = None
    lowest: float | None = None
    highest: float | None = None
    lower_is_better: bool = False
    unit: str = "points"
    moves_together: bool = False

    def __post_init__(self) -> None:
        if self.margin is not None and self.margin <= 0:
            raise ValueError(f"the margin of {self.name} is {self.margin}; it must be above 0")

    @property
    def worst_and_best(self) -> tuple[float, float] | None:
        """Return the ends of the range of values, signed so that more is better, if declared."""
        if self.kind == "pass":
            return (0.0, 1.0)
        if self.lowest is None or self.highest is None:
            return None
        if self.lower_is_better:
            return (-self.highest, -self.lowest)
        return (self.lowest, self.highest)

    def signed(self, total: float, count: int = 1) -> float:
        """Turn a total of so many values so that more is better, and back."""
        if not self.lower_is_better:
            return total
        return count - total if self.kind == "pass" else -total


@dataclass(frozen=True, slots=True)
class MetricPairs:
    """A metric, and the paired samples of two runs that have it."""

    metric: ComparedMetric
    samples: Sequence[PairedSample]


class Pair(NamedTuple):
    """What is computed with of one sample: totals, signed so that more is better, of so many."""

    baseline_total: float
    baseline_trials: int
    candidate_total: float
    candidate_trials: int

    @property
    def difference(self) -> float:
        """Return the candidate's mean less the baseline's."""
        baseline = self.baseline_total / self.baseline_trials
        return self.candidate_total / self.candidate_trials - baseline


Pairs = Sequence[tuple[Pair, int]]
"""Pairs of outcomes, each with how many samples have it; their order says nothing."""


def filled(given: MetricPairs, filling: Filling) -> Pairs:
    """Return the pairs to compute with; samples left without a trial on a side are left out.

    Without a declared range missing scores are left out, whatever the filling.
    """
    metric = given.metric
    bounds = metric.worst_and_best
    before = _Filler(metric, bounds, filling, is_candidate=False)
    after = _Filler(metric, bounds, filling, is_candidate=True)
    sides = ((sample.baseline, sample.candidate) for sample in given.samples)
    if metric.kind == "score":  # few samples have the same scores
        found = ((Pair(*before.side(one), *after.side(other)), 1) for one, other in sides)
    else:
        kinds = Counter(sides).items()
        found = ((Pair(*before.side(one), *after.side(other)), n) for (one, other), n in kinds)
    return [(pair, n) for pair, n in found if pair.baseline_trials and pair.candidate_trials]


def complete(given: MetricPairs) -> MetricPairs:
    """Return the samples in which nothing is missing."""
    return MetricPairs(given.metric, [one for one in given.samples if not _is_missing_some(one)])


def incomplete(given: MetricPairs) -> MetricPairs:
    """Return the samples in which something is missing."""
    return MetricPairs(given.metric, [one for one in given.samples if _is_missing_some(one)])


def paired_passes(
    baseline: Sequence[tuple[int, int]], candidate: Sequence[tuple[int, int]]
) -> Pairs:
    """Return pairs from each sample's (passes, trials) in two runs, in one order of samples."""
    sides = zip(baseline, candidate, strict=True)
    return list(Counter(Pair(*before, *after) for before, after in sides).items())


def _is_missing_some(sample: PairedSample) -> bool:
    (_, _, broken, unrun), (_, _, also_broken, also_unrun) = sample.baseline, sample.candidate
    return bool(broken or unrun or also_broken or also_unrun)


@dataclass(frozen=True, slots=True)
class _Filler:
    """What one run's missing outcomes of a metric are taken for."""

    metric: ComparedMetric
    bounds: tuple[float, float] | None
    filling: Filling
    is_candidate: bool

    def side(self, side: SideOutcomes) -> tuple[float, int]:
        """Return the total and the number of trials of a sample, missing ones filled in."""
        total, graded, errored, never_ran = side
        if self.metric.lower_is_better:
            total = self.metric.signed(total, graded)
        if self.bounds is None or not (errored or never_ran):
            return total, graded
        worst, best = self.bounds
        if self.filling == "left_out":
            return total + worst * errored, graded + errored
        value = worst if self.is_candidate == (self.filling == "if_failed") else best
        return total + value * (errored + never_ran), graded + errored + never_ran
