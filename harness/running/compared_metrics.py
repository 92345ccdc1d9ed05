"""Which metrics of two runs are compared, and their outcomes sample by sample."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from harness.measuring.paired_outcomes import (
    ComparedMetric,
    MetricPairs,
    PairedSample,
    SideOutcomes,
)
from harness.running.compared_sides import COSTS, SCORE, TRIAL, Column, ComparedSide
from harness.system.suggestions import suggest
from harness.types.errors import Fault, InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricChoice:
    """Which metrics decide, and the drop of each that one can live with.

    `margin` is that of every metric which has none of its own in `margins`; None for no margin.
    """

    gating: tuple[str, ...] = (TRIAL,)
    margin: float | None = None
    margins: Mapping[str, float] = field(default_factory=dict)

    def margin_of(self, metric: str) -> float | None:
        """Return the margin of a metric; a general one is a fraction, and holds for no cost."""
        return self.margins.get(metric, None if metric in COSTS else self.margin)


def require_metrics(choice: MetricChoice, sides: Sequence[ComparedSide]) -> None:
    """Refuse metrics that none of the runs has.

    Raises:
        InputError: with a line for each.
    """
    known = {TRIAL, *COSTS, *(name for side in sides for name in side.graders)}
    asked = dict.fromkeys([*choice.gating, *choice.margins])
    if faults := [_unknown(name, known) for name in asked if name not in known]:
        raise InputError(faults)


def _unknown(name: str, known: Iterable[str]) -> Fault:
    problem = f"no metric {name!r} in these runs"
    return Fault(file="--metric", problem=problem, allowed=suggest(name, sorted(known)))


def metric_pairs(
    baseline: ComparedSide, candidate: ComparedSide, ids: Sequence[str], choice: MetricChoice
) -> list[MetricPairs]:
    """Return the metrics of two runs, those that decide first, over the samples in `ids`.

    A sample that the candidate planned and never ran is in `ids` too.
    """
    graders = [name for name in candidate.graders if name in baseline.graders]
    names = dict.fromkeys([*choice.gating, TRIAL, *graders, *COSTS])
    columns = [*names, *(f"{SCORE}{name}" for name in names if name not in {TRIAL, *COSTS})]
    sides = [(side, side.columns(columns)) for side in (baseline, candidate)]
    pairing = _Pairing(sides, ids)
    found = [pairing.of(name, choice) for name in names]
    return [one for one in found if one.samples or one.metric.gating]


class _Pairing:
    """Pairs the outcomes of two runs; equal outcomes are one object, for there are few."""

    def __init__(
        self, sides: Sequence[tuple[ComparedSide, Mapping[str, Column]]], ids: Sequence[str]
    ) -> None:
        self._sides, self._ids = sides, ids
        self._known: dict[SideOutcomes, SideOutcomes] = {}

    def of(self, name: str, choice: MetricChoice) -> MetricPairs:
        """Pair one metric."""
        is_score = name in COSTS or any(
            f"{SCORE}{name}" in columns and not columns[f"{SCORE}{name}"].is_binary
            for _, columns in self._sides
        )
        column = f"{SCORE}{name}" if is_score and name not in COSTS else name
        metric = ComparedMetric(
            name=name,
            kind="score" if is_score else "pass",
            gating=name in choice.gating,
            margin=choice.margin_of(name),
            lowest=0.0 if is_score else None,
            highest=1.0 if is_score and name not in COSTS else None,
            lower_is_better=name in COSTS,
            unit=COSTS.get(name, "points"),
        )
        return MetricPairs(metric, [one for i in self._ids if (one := self._pair(i, column))])

    def _pair(self, sample_id: str, column: str) -> PairedSample | None:
        errors = self._sides[1][0].manifest.errors
        made = []
        for side, columns in self._sides:
            row = side.samples.get(sample_id)
            if row is not None and row not in columns[column]:
                return None  # the metric does not apply to the sample
            outcome = side.side(columns[column], row, errors)
            made.append(self._known.setdefault(outcome, outcome))
        return PairedSample(sample_id, *made)
