"""The samples that regressed or improved, each with evidence of both runs and where they part."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec.structs import replace

from harness.measuring.divergence_words import divergence_groups
from harness.measuring.divergences import first_divergence
from harness.measuring.paired_outcomes import (
    ComparedMetric,
    MetricPairs,
    PairedSample,
    SideOutcomes,
)
from harness.running.compared_sides import SCORE, TRIAL, ComparedSide, value_of
from harness.running.first_failures import failed_of
from harness.running.sample_places import places_of
from harness.storing.counted_outcomes import FoundTrials
from harness.types.comparisons import (
    Divergence,
    DivergenceGroup,
    SamplePair,
    TrialEvidence,
)
from harness.types.explanations import Place
from harness.types.trials import Outcome, Trial

_SAME = 1e-12
"""Means that differ by less are the same mean, summed in another order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedSamples:
    """The samples that moved, worst first, and the groups of where the regressed ones part.

    `errored` have nothing but errors on one side; they are neither regressed nor improved.
    `served` are the models that really answered in the trials that are shown, by side.
    """

    regressed: tuple[SamplePair, ...]
    improved: tuple[SamplePair, ...]
    errored: tuple[SamplePair, ...]
    divergences: tuple[DivergenceGroup, ...]
    served: tuple[frozenset[str], frozenset[str]]


class _Moved(NamedTuple):
    drop: float
    sample: PairedSample


class _Place(NamedTuple):
    """A trial: its value, signed so that more is better, and the index of its line."""

    value: float
    is_error: bool
    epoch: int
    line: int
    passed: bool


def moved_samples(
    baseline: ComparedSide, candidate: ComparedSide, pairs: MetricPairs
) -> MovedSamples:
    """Find the samples whose mean over epochs differs, and show one trial of each run.

    Only the trials that are shown are read: of a regressed sample the best of the baseline and
    the worst of the candidate, of an improved one the reverse. Their places are those of the
    candidate's dataset.

    Raises:
        StoreError: a run cannot be read.
    """
    moved = sorted((one for s in pairs.samples if (one := _moved(s, pairs))), key=_order)
    errored = [one.sample for one in moved if _is_errored(one.sample)]
    judged = [one for one in moved if not _is_errored(one.sample)]
    regressed = [one.sample for one in judged if one.drop > 0]
    improved = [one.sample for one in reversed(judged) if one.drop < 0]
    ids = {one.sample.sample_id: one.drop > 0 for one in moved}
    falling = {name for name, worse in ids.items() if worse}
    sides = (
        _Shown.of(baseline, ids, pairs.metric, falling),
        _Shown.of(candidate, ids, pairs.metric, ids.keys() - falling),
    )
    places = places_of(candidate.manifest, ids) if ids else {}
    shown = _Showing(pairs.metric, sides, places)
    worse = tuple(map(shown.pair, regressed))
    better = tuple(map(shown.pair, improved))
    found = {one.sample_id: one.divergence for one in worse if one.divergence is not None}
    return MovedSamples(
        regressed=worse,
        improved=better,
        errored=tuple(map(shown.pair, errored)),
        divergences=divergence_groups(found, len(worse)),
        served=(frozenset(shown.served[0]), frozenset(shown.served[1])),
    )


def _moved(sample: PairedSample, pairs: MetricPairs) -> _Moved | None:
    means = [_mean(side) for side in (sample.baseline, sample.candidate)]
    if means[0] is None or means[1] is None:
        return None
    drop = pairs.metric.signed(means[0]) - pairs.metric.signed(means[1])
    return _Moved(drop, sample) if abs(drop) > _SAME else None


def _is_errored(sample: PairedSample) -> bool:
    return sample.baseline.has_only_errors or sample.candidate.has_only_errors


def _mean(side: SideOutcomes) -> float | None:
    trials = side.graded + side.errored
    return side.total / trials if trials else None


def _order(moved: _Moved) -> tuple[float, str]:
    return (-moved.drop, moved.sample.sample_id)


@dataclass(frozen=True, slots=True)
class _Shown:
    """The trial of each sample that one run shows, by the id of the sample."""

    places: dict[str, _Place]
    passes: Counter[str]
    trials: FoundTrials

    @staticmethod
    def of(
        side: ComparedSide, ids: Collection[str], metric: ComparedMetric, best: Collection[str]
    ) -> "_Shown":
        """Choose trials: the best of the samples in `best`, the worst of the others."""
        found: defaultdict[str, list[_Place]] = defaultdict(list)
        for line, one in side.numbered():
            if one.sample_id in ids:
                found[one.sample_id].append(_place(line, one, metric))
        places = {name: _chosen(of, is_best=name in best) for name, of in found.items()}
        passes = Counter({name: sum(one.passed for one in of) for name, of in found.items()})
        lines = (one.line for one in places.values())
        return _Shown(places, passes, FoundTrials(side.folder, lines))

    def trial(self, sample_id: str) -> Trial | None:
        """Read the trial of a sample; None where none was run."""
        place = self.places.get(sample_id)
        return None if place is None else self.trials.read(place.line)


def _place(line: int, outcome: Outcome, metric: ComparedMetric) -> _Place:
    is_score = metric.kind == "score" and not metric.lower_is_better
    value = value_of(outcome, f"{SCORE}{metric.name}" if is_score else metric.name)
    number = metric.signed(value) if isinstance(value, float) else 0.0
    passed = value_of(outcome, TRIAL if metric.lower_is_better else metric.name) == 1.0
    return _Place(number, value is None, outcome.epoch, line, passed)


def _chosen(places: Iterable[_Place], *, is_best: bool) -> _Place:
    """Choose one: a failure that was graded says more than an error."""
    sign = -1 if is_best else 1
    return min(places, key=lambda one: (one.is_error, sign * one.value, one.epoch))


@dataclass(frozen=True, slots=True)
class _Showing:
    """Shows pairs; notes which models have answered in what is shown."""

    metric: ComparedMetric
    sides: tuple[_Shown, _Shown]
    places: Mapping[str, Place]
    served: tuple[set[str], set[str]] = field(default_factory=lambda: (set(), set()))

    def pair(self, sample: PairedSample) -> SamplePair:
        """Show one sample."""
        trials = [side.trial(sample.sample_id) for side in self.sides]
        for trial, models in zip(trials, self.served, strict=True):
            models.update(_served(trial))
        before, after = _evidence(trials, self.metric.name)
        one, other = trials
        place = self.places.get(sample.sample_id)
        is_score = self.metric.kind == "score"
        return SamplePair(
            sample_id=sample.sample_id,
            baseline_passes=self.sides[0].passes[sample.sample_id],
            baseline_trials=sample.baseline.graded + sample.baseline.errored,
            candidate_passes=self.sides[1].passes[sample.sample_id],
            candidate_trials=sample.candidate.graded + sample.candidate.errored,
            metric=self.metric.name,
            unit=self.metric.unit,
            baseline_value=_mean(sample.baseline) if is_score else None,
            candidate_value=_mean(sample.candidate) if is_score else None,
            baseline_shown=before,
            candidate_shown=after,
            divergence=_divergence(one, other),
            place=None if place is None else str(place),
        )


def _divergence(baseline: Trial | None, candidate: Trial | None) -> Divergence | None:
    if baseline is None or candidate is None:
        return None
    return first_divergence(baseline, candidate)


def _served(trial: Trial | None) -> Iterable[str]:
    turns = () if trial is None else trial.trajectory.turns
    return {step.model for turn in turns for step in turn.steps if step.model}


def _evidence(
    trials: Sequence[Trial | None], metric: str
) -> tuple[TrialEvidence | None, TrialEvidence | None]:
    """Show both trials by what the failing one failed at."""
    failing = next((one for one in reversed(trials) if one and not _passes(one, metric)), None)
    grader = None
    if failing is not None:
        grader = metric if metric in failing.grades else failed_of(failing).grader
    before, after = (None if one is None else _shown(one, grader, metric) for one in trials)
    return before, after


def _passes(trial: Trial, metric: str) -> bool:
    grade = trial.grades.get(metric)
    return (trial.passed if grade is None else grade.passed) is True


def _shown(trial: Trial, grader: str | None, metric: str) -> TrialEvidence:
    shown = TrialEvidence(
        epoch=trial.epoch,
        status=trial.status,
        passed=_passes(trial, metric) if metric in trial.grades else trial.passed,
        grader=grader,
        evidence="",
    )
    if trial.error is not None:
        evidence = f"{trial.error.code}: {trial.error.message}"
        return replace(shown, grader=None, evidence=evidence)
    grade = trial.grades.get(grader or "")
    if grade is not None:
        return replace(shown, evidence=grade.evidence)
    return replace(shown, grader=None, evidence="" if trial.passed else failed_of(trial).evidence)
