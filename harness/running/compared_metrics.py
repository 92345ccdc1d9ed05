"""Which metrics of two runs are compared, and their outcomes sample by sample."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from harness.measuring.paired_outcomes import (
    ComparedMetric,
    MetricPairs,
    PairedSample,
    SideOutcomes,
)
from harness.running.compared_sides import COSTS, SCORE, TIMES, TRIAL, Column, ComparedSide
from harness.system.suggestions import suggest
from harness.types.errors import Fault, InputError
from harness.types.grades import RECORDED
from harness.types.suites import ComparisonRule, ErrorRule, Suite

MOST_WITH_COSTS = 20_000
"""With more samples, costs are compared only where they decide: no two are alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricChoice:
    """Which metrics decide (none: those that the suite names), and the drop one can live with.

    `margin` is that of every metric which has none of its own in `margins`; None for no margin.
    `asked` are the metrics whose margins the command line gives, where the suite may give others;
    the empty name stands for `margin`.
    """

    gating: tuple[str, ...] = ()
    margin: float | None = None
    margins: Mapping[str, float] = field(default_factory=dict)
    asked: tuple[str, ...] = ()

    def margin_of(self, metric: str) -> float | None:
        """Return the margin of a metric; a general one is a fraction, and holds for no cost."""
        return self.margins.get(metric, None if metric in COSTS else self.margin)


def chosen_metrics(rule: Mapping[str, Any] | None, choice: MetricChoice) -> MetricChoice:
    """Fill what the command line does not choose by what the candidate's suite says."""
    said = msgspec.convert(rule or {}, ComparisonRule)
    return MetricChoice(
        gating=choice.gating or said.metrics,
        margin=choice.margin,
        # A margin of the command line for all metrics goes before those of the suite.
        margins=choice.margins if choice.margin else {**said.margins, **choice.margins},
        asked=(*choice.margins, *([""] if choice.margin else [])),
    )


def require_metrics(choice: MetricChoice, sides: Sequence[ComparedSide]) -> None:
    """Refuse metrics that none of the runs has, and margins of none that decides.

    Raises:
        InputError: with a line for each.
    """
    known = {TRIAL, *COSTS, *(name for side in sides for name in side.graders)}
    _require(choice, known, "in these runs")


def require_suite_metrics(choice: MetricChoice, suite: Suite) -> None:
    """Refuse metrics that no run of a suite will have, before it is run; margins as well.

    Raises:
        InputError: with a line for each.
    """
    own = (grader for sample in suite.samples or () for grader in sample.graders)
    names = (spec.name for spec in (*suite.graders, *own))
    _require(choice, {TRIAL, *COSTS, *names}, "in this suite", may_be_recorded=True)


def _require(
    choice: MetricChoice, known: Collection[str], where: str, *, may_be_recorded: bool = False
) -> None:
    asked = {"--metric": choice.gating, "--margin": tuple(choice.margins)}
    faults = [
        Fault(
            file=option,
            problem=f"no metric {name!r} {where}",
            allowed=suggest(name, sorted(known)),
        )
        for option, names in asked.items()
        for name in names
        if name not in known and not (may_be_recorded and name.startswith(RECORDED))
    ]
    faults = faults or list(_idle_margins(choice))
    if faults:
        raise InputError(faults)


def _idle_margins(choice: MetricChoice) -> Iterator[Fault]:
    """Report margins of the command line of which none is that of a metric that decides."""
    asked, deciding = choice.asked, list(choice.gating)
    if not asked or any(name in asked or ("" in asked and name not in COSTS) for name in deciding):
        return
    named = [name for name in asked if name]
    of = f"of {', '.join(named)}" if named else "a fraction, which holds for no cost"
    who = f"{', '.join(deciding)} {'decide' if len(deciding) > 1 else 'decides'}"
    gives = f"--margin {deciding[0]}=NUMBER"
    allowed = f"{gives}; or --metric {named[0]}, so that it decides" if named else gives
    yield Fault(file="--margin", problem=f"it is {of}, and {who}", allowed=allowed)


def metric_pairs(
    baseline: ComparedSide, candidate: ComparedSide, ids: Sequence[str], choice: MetricChoice
) -> list[MetricPairs]:
    """Return the metrics of two runs, those that decide first, over the samples in `ids`.

    A sample that the candidate planned and never ran is in `ids` too.
    """
    graders = [name for name in candidate.graders if name in baseline.graders]
    costs = () if leaves_costs_out(ids) else COSTS
    names = dict.fromkeys([*choice.gating, TRIAL, *graders, *costs])
    metrics = [_metric(name, choice, (baseline, candidate)) for name in names]
    further = [
        column for one in metrics if (column := _column(one)) != one.name or one.name in COSTS
    ]
    pairing = _Pairing(baseline, candidate, ids, further)
    found = [pairing.of(metric) for metric in metrics]
    return [one for one in found if one.samples or one.metric.gating]


def leaves_costs_out(ids: Sequence[str]) -> bool:
    """Say whether there are so many samples that costs are compared only where they decide."""
    return len(ids) > MOST_WITH_COSTS


def _metric(
    name: str, choice: MetricChoice, sides: tuple[ComparedSide, ComparedSide]
) -> ComparedMetric:
    # Graders' names go before.
    is_cost = name in COSTS and not any(name in side.passes for side in sides)
    is_score = is_cost or any(name in side.scored for side in sides)
    return metric_of_kind(name, choice, is_cost=is_cost, is_score=is_score)


def metric_of_kind(
    name: str, choice: MetricChoice, *, is_cost: bool, is_score: bool
) -> ComparedMetric:
    """Say how a metric is compared whose numbers are passes, scores or, as scores too, costs."""
    return ComparedMetric(
        name=name,
        kind="score" if is_score else "pass",
        gating=name in choice.gating,
        margin=choice.margin_of(name),
        lowest=0.0 if is_score else None,
        highest=1.0 if is_score and not is_cost else None,
        lower_is_better=is_cost,
        unit=COSTS[name] if is_cost else "points",
        moves_together=is_cost and name in TIMES,
    )


def _column(metric: ComparedMetric) -> str:
    is_grade = metric.kind == "score" and not metric.lower_is_better
    return f"{SCORE}{metric.name}" if is_grade else metric.name


class _Pairing:
    """Pairs the outcomes of two runs over the same samples."""

    def __init__(
        self,
        baseline: ComparedSide,
        candidate: ComparedSide,
        ids: Sequence[str],
        further: Collection[str],
    ) -> None:
        ours, theirs = baseline.samples, candidate.samples
        self._rows = [(one, ours.get(one), theirs.get(one)) for one in ids]
        self._sides = (baseline, candidate)
        self._columns = [{**side.passes, **side.gathered(further)} for side in self._sides]
        self._errors: ErrorRule = candidate.manifest.errors
        # A sample without a row has never run; one without an outcome has no such metric.
        self._never = SideOutcomes(0.0, 0, never_ran=candidate.manifest.epochs)

    def of(self, metric: ComparedMetric) -> MetricPairs:
        """Pair one metric."""
        name = _column(metric)
        before, after = (
            _outcomes(side, columns.get(name), self._errors)
            for side, columns in zip(self._sides, self._columns, strict=True)
        )
        never = self._never
        samples = [
            PairedSample(sample_id, one, other)
            for sample_id, ours, theirs in self._rows
            if (one := never if ours is None else before[ours]) is not None
            and (other := never if theirs is None else after[theirs]) is not None
        ]
        return MetricPairs(metric, samples)


def _outcomes(
    side: ComparedSide, column: Column | None, errors: ErrorRule
) -> list[SideOutcomes | None]:
    """Return what a run has of a metric, by row; equal outcomes are one object, for most are.

    Where `errors` are excluded they count as trials that never ran.
    """
    if column is None:
        return [None] * len(side.samples)
    known: dict[tuple[float, int, int, int], SideOutcomes] = {}
    made: list[SideOutcomes | None] = []
    rows = range(len(side.samples))
    every = zip(rows, column.totals, column.graded, column.errored, strict=False)
    for row, total, graded, errored in every:
        if not graded and not errored:
            made.append(None)
            continue
        never = side.never_ran(row)
        one = (total, graded, errored, never)
        if errors == "exclude":
            one = (total, graded, 0, never + errored)
        made.append(known.get(one) or known.setdefault(one, SideOutcomes(*one)))
    return made
