"""The metrics of the nights that decide besides the trial's pass: outcomes sample by sample."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.measuring.paired_outcomes import ComparedMetric, SideOutcomes
from harness.running.compared_metrics import MetricChoice, metric_of_kind
from harness.running.compared_sides import COSTS, SCORE, TRIAL, value_of
from harness.storing.night_outcomes import NightRecord, whole_outcomes
from harness.types.trials import Outcome


def _floats() -> defaultdict[str, float]:
    return defaultdict(float)


def _counts() -> defaultdict[str, int]:
    return defaultdict(int)


@dataclass(frozen=True, slots=True)
class NightMetric:
    """One metric of one model on one night, by sample: sums, and of how many trials they are.

    `is_cost` says that little is good. `marks` hash what the grades of a sample were made of, where
    that is known.
    """

    is_cost: bool
    passes: defaultdict[str, float] = field(default_factory=_floats)
    scores: defaultdict[str, float] = field(default_factory=_floats)
    graded: defaultdict[str, int] = field(default_factory=_counts)
    errored: defaultdict[str, int] = field(default_factory=_counts)
    marks: dict[str, str] = field(default_factory=dict)

    @property
    def is_score(self) -> bool:
        """Say whether the values are more than passes and failures."""
        return self.is_cost or self.scores != self.passes

    def sides(
        self, never_ran: Mapping[str, int], *, excludes: bool, as_score: bool
    ) -> dict[str, SideOutcomes]:
        """Return the outcomes of each sample that has the metric, of those in `never_ran`.

        That is of how many trials of a sample there is nothing. `excludes` says that errors count
        as such trials.
        """
        totals, graded, errored = (
            self.scores if as_score else self.passes,
            self.graded,
            self.errored,
        )
        if not errored:
            return {
                name: SideOutcomes(totals[name], graded[name], 0, never)
                for name, never in never_ran.items()
                if name in graded
            }
        found = {}
        for name, never in never_ran.items():
            broken = errored.get(name, 0)
            if broken or name in graded:
                ends = (0, never + broken) if excludes else (broken, never)
                found[name] = SideOutcomes(totals.get(name, 0.0), graded.get(name, 0), *ends)
        return found


def further_metrics(choice: MetricChoice) -> tuple[str, ...]:
    """Return the metrics that decide beside the trial's pass."""
    return tuple(name for name in choice.gating if name != TRIAL)


def night_metrics(night: NightRecord, model: str, metrics: Sequence[str]) -> dict[str, NightMetric]:
    """Gather metrics of a model on one night, by name; costs nothing where there is none.

    Raises:
        StoreError: the run cannot be read.
    """
    graders = night.manifest.grader_keys
    # Graders' names go before.
    found = {name: NightMetric(name in COSTS and name not in graders) for name in metrics}
    for outcome in whole_outcomes(night.folder) if found else ():
        if outcome.model == model:
            for name, metric in found.items():
                _add(metric, name, outcome)
    return found


def _add(metric: NightMetric, name: str, outcome: Outcome) -> None:
    sample_id, value = outcome.sample_id, value_of(outcome, name)
    if value is None:
        metric.errored[sample_id] += 1
        return
    if isinstance(value, str):
        return
    metric.graded[sample_id] += 1
    if metric.is_cost:
        metric.scores[sample_id] += value
        return
    metric.passes[sample_id] += value
    score = value_of(outcome, f"{SCORE}{name}")
    metric.scores[sample_id] += score if isinstance(score, float | int) else 0.0
    _mark(metric, name, outcome)


def _mark(metric: NightMetric, name: str, outcome: Outcome) -> None:
    if outcome.status == "completed" and outcome.sample_id not in metric.marks:
        metric.marks[outcome.sample_id] = outcome.grade_keys.get(name, "")


def compared_metric(
    name: str, choice: MetricChoice, sides: Sequence[NightMetric]
) -> ComparedMetric:
    """Say how a metric of two nights is compared, as `regrade compare` does."""
    is_cost = any(side.is_cost for side in sides)
    is_score = any(side.is_score for side in sides)
    return metric_of_kind(name, choice, is_cost=is_cost, is_score=is_score)
