"""Which metrics of two runs are compared, and their outcomes sample by sample."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

from harness.measuring.paired_outcomes import (
    ComparedMetric,
    MetricPairs,
    PairedSample,
    SideOutcomes,
)
from harness.running.compared_sides import COSTS, SCORE, TRIAL, ComparedSide
from harness.system.suggestions import suggest
from harness.types.errors import Fault, InputError
from harness.types.suites import ErrorRule


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
    rows = [(one, baseline.samples.get(one), candidate.samples.get(one)) for one in ids]
    found = [
        _paired((baseline, candidate), rows, _metric(name, choice, (baseline, candidate)))
        for name in names
    ]
    return [one for one in found if one.samples or one.metric.gating]


_Sides = tuple[ComparedSide, ComparedSide]
_Rows = Sequence[tuple[str, int | None, int | None]]


def _metric(name: str, choice: MetricChoice, sides: _Sides) -> ComparedMetric:
    scores = [side.columns.get(f"{SCORE}{name}") for side in sides]
    is_score = name in COSTS or any(one is not None for one in scores)
    return ComparedMetric(
        name=name,
        kind="score" if is_score else "pass",
        gating=name in choice.gating,
        margin=choice.margin_of(name),
        lowest=0.0 if is_score else None,
        highest=1.0 if is_score and name not in COSTS else None,
        lower_is_better=name in COSTS,
        unit=COSTS.get(name, "points"),
    )


def _paired(sides: _Sides, rows: _Rows, metric: ComparedMetric) -> MetricPairs:
    is_grade = metric.kind == "score" and metric.name not in COSTS
    column = f"{SCORE}{metric.name}" if is_grade else metric.name
    errors = sides[1].manifest.errors
    before, after = (
        _Outcomes(side, column if column in side.columns else metric.name, errors) for side in sides
    )
    # A sample without a row in a run has never run there; one without an outcome has no such
    # metric.
    never = SideOutcomes(0.0, 0, never_ran=sides[1].manifest.epochs)
    pairs = _LazyPairs(before, after, rows, never)
    return MetricPairs(metric, pairs if metric.name in COSTS else list(pairs))


class _LazyPairs(Sequence[PairedSample]):
    """The pairs of one metric, made when they are asked for: of amounts no two are alike."""

    def __init__(
        self, before: "_Outcomes", after: "_Outcomes", rows: _Rows, never: SideOutcomes
    ) -> None:
        self._before, self._after, self._rows, self._never = before, after, rows, never
        self._count = sum(1 for _ in self)

    def __iter__(self) -> Iterator[PairedSample]:
        before, after, never = self._before.of, self._after.of, self._never
        for name, ours, theirs in self._rows:
            one = never if ours is None else before(ours)
            if one is None:
                continue
            other = never if theirs is None else after(theirs)
            if other is not None:
                yield PairedSample(name, one, other)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> PairedSample: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[PairedSample]: ...

    def __getitem__(self, index: int | slice) -> PairedSample | Sequence[PairedSample]:
        return list(self)[index]


class _Outcomes:
    """What a run has of a metric, by row; equal outcomes of grades are one object.

    Where `errors` are excluded they count as trials that never ran.
    """

    def __init__(self, side: ComparedSide, name: str, errors: ErrorRule) -> None:
        self._side, self._column = side, side.columns.get(name)
        self._excludes = errors == "exclude"
        self._shares = name not in COSTS
        self._known: dict[tuple[float, int, int, int], SideOutcomes] = {}

    def of(self, row: int) -> SideOutcomes | None:
        """Return what there is of a sample; None where there is nothing."""
        column = self._column
        if column is None or not (column.graded[row] or column.errored[row]):
            return None
        errored, never = column.errored[row], self._side.never_ran(row)
        if self._excludes:
            errored, never = 0, never + errored
        one = (column.totals[row], column.graded[row], errored, never)
        if not self._shares:
            return SideOutcomes(*one)
        return self._known.get(one) or self._known.setdefault(one, SideOutcomes(*one))
