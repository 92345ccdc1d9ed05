"""The nights of a model against the pinned baseline, by the metrics that decide in the suite."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.measuring.paired_outcomes import (
    ComparedMetric,
    MetricPairs,
    PairedSample,
    SideOutcomes,
)
from harness.measuring.suite_verdicts import invalid, judge_runs, pairing_fault
from harness.running.compared_metrics import MetricChoice
from harness.running.compared_sides import TRIAL
from harness.running.night_metrics import (
    NightMetric,
    compared_metric,
    further_metrics,
    night_metrics,
)
from harness.storing.night_outcomes import NightRecord, SampleNight
from harness.types.verdicts import Question, SuiteVerdict

MOST_JUDGED = 30
"""The most nights that are judged by other metrics than the trial's pass."""

_Metrics = Mapping[str, NightMetric]


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The pinned run, which metrics decide and the drops that one can live with, and the models.

    `model` is that of the nights, `own_model` the one of the baseline that it is held against.
    """

    night: NightRecord
    model: str
    own_model: str
    choice: MetricChoice = field(default_factory=lambda: MetricChoice(gating=(TRIAL,)))
    question: Question = "fixed_suite"

    @property
    def samples(self) -> Mapping[str, SampleNight]:
        """Return its samples by id."""
        return self.night.models.get(self.own_model, {})


def night_verdicts(
    nights: Sequence[NightRecord], baseline: Baseline, quarantined: Collection[str]
) -> Iterator[SuiteVerdict | None]:
    """Judge every night after the baseline; None for the others.

    Where other metrics than the trial's pass decide, the last thirty are judged: it takes several
    times as long.

    Raises:
        StoreError: a run cannot be read.
    """
    start, names = baseline.night.manifest.started_at, further_metrics(baseline.choice)
    before = night_metrics(baseline.night, baseline.own_model, names)
    first = len(nights) - MOST_JUDGED if names else 0
    for place, night in enumerate(nights):
        if place < first or night.manifest.started_at <= start:
            yield None
            continue
        after = night_metrics(night, baseline.model, names)
        # What could have been seen takes its time, and is told of the last night alone.
        two, is_last = _TwoNights(baseline, night, before, after), place == len(nights) - 1
        yield two.judge(quarantined, says_power=is_last)


@dataclass(frozen=True, slots=True)
class _TwoNights:
    """The baseline and a night, each with the metrics that decide besides the trial's pass."""

    baseline: Baseline
    night: NightRecord
    before: _Metrics
    after: _Metrics

    def judge(self, quarantined: Collection[str], *, says_power: bool) -> SuiteVerdict:
        """Judge the night, quarantined samples left out.

        Samples are paired as `regrade compare` does, but nothing is graded again: where graders
        have changed since the baseline, the verdict is INVALID and says so.
        """
        before, after = self.baseline.samples, self.samples
        common = [name for name in before if name in after]
        unlike = self._otherwise_graded()
        alike = [name for name in common if before[name].is_like(after[name])]
        alike = [name for name in alike if name not in unlike] if unlike else alike
        if fault := pairing_fault(len(common), len(alike)):
            if any(before[name].given == after[name].given for name in set(common) - set(alike)):
                fault += "; the graders differ: `regrade compare` grades the baseline again"
            return invalid(fault)
        is_short = len(after) < self.night.manifest.samples
        absent = [name for name in before if name not in after] if is_short else []
        ids = [name for name in (*alike, *absent) if name not in quarantined]
        names = dict.fromkeys([*self.baseline.choice.gating, TRIAL])
        pairs = [self._trial(ids) if name == TRIAL else self._metric(name, ids) for name in names]
        found = judge_runs([pairs], question=self.baseline.question, says_power=says_power)
        return found[0]

    @property
    def samples(self) -> Mapping[str, SampleNight]:
        """Return the night's samples by id."""
        return self.night.models.get(self.baseline.model, {})

    def _otherwise_graded(self) -> set[str]:
        """Return the samples of which a metric's grades were made of other things, if known.

        What decides on the trial is known already; other graders may only observe it.
        """
        both = ((self.before[name].marks, after.marks) for name, after in self.after.items())
        return {
            sample
            for ours, theirs in both
            for sample, mark in theirs.items()
            if mark and ours.get(sample, mark) not in {"", mark}
        }

    def _trial(self, ids: Sequence[str]) -> MetricPairs:
        choice = self.baseline.choice
        gates, margin = TRIAL in choice.gating, choice.margin_of(TRIAL)
        metric = ComparedMetric(name=TRIAL, gating=gates, margin=margin)
        before, after = self.baseline.samples, self.samples
        pairs = [
            PairedSample(
                name,
                self._passes(before[name], self.baseline.night),
                self._passes(after.get(name), self.night),
            )
            for name in ids
        ]
        return MetricPairs(metric, pairs)

    def _metric(self, name: str, ids: Sequence[str]) -> MetricPairs:
        sides = (self.before[name], self.after[name])
        metric = compared_metric(name, self.baseline.choice, sides)
        nights = ((self.baseline.samples, self.baseline.night), (self.samples, self.night))
        before, after = (
            side.sides(
                {one: _never_ran(of[one], night) for one in ids if one in of},
                excludes=self._excludes,
                as_score=metric.kind == "score",
            )
            for side, (of, night) in zip(sides, nights, strict=True)
        )
        never, ran = SideOutcomes(0.0, 0, never_ran=self.night.manifest.epochs), self.samples
        pairs = [
            PairedSample(one, before[one], after[one] if one in ran else never)
            for one in ids
            if one in before and (one in after or one not in ran)
        ]
        return MetricPairs(metric, pairs)

    @property
    def _excludes(self) -> bool:
        return self.night.manifest.errors == "exclude"

    def _passes(self, sample: SampleNight | None, night: NightRecord) -> SideOutcomes:
        if sample is None:
            return SideOutcomes(0.0, 0, never_ran=night.manifest.epochs)
        errored, never = sample.errors, _never_ran(sample, night)
        if self._excludes:
            errored, never = 0, never + errored
        return SideOutcomes(float(sample.passes), sample.passes + sample.failures, errored, never)


def _never_ran(sample: SampleNight, night: NightRecord) -> int:
    return max(night.manifest.epochs - sample.trials, 0)
