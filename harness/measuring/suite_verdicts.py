"""Verdicts on two runs: per metric, with p values adjusted for being several, and altogether."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from msgspec.structs import replace

from harness.measuring.metric_comparing import (
    Measured,
    epochs_of,
    measure,
    power_of,
    side_numbers,
)
from harness.measuring.missing_outcomes import (
    Ways,
    count_missing,
    missing_reason,
    missing_record,
    settle,
)
from harness.measuring.multiplicity import benjamini_hochberg, holm
from harness.measuring.paired_outcomes import Filling, MetricPairs, filled
from harness.system.numbers import reaches
from harness.types.verdicts import (
    SUITE_ORDER,
    AlarmStage,
    MetricVerdict,
    PValues,
    Question,
    SuiteVerdict,
    Verdict,
)

ALPHA = 0.05
LEAST_UNCHANGED = 0.9
"""The share of the samples in both runs that must be unchanged for the runs to be compared."""

Candidate = Sequence[MetricPairs]
"""The metrics of one candidate, each paired with the baseline's."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """One metric under one way of filling in."""

    verdict: Verdict
    measured: Measured | None = None
    p: PValues | None = None
    reason: str | None = None


def judge_runs(
    candidates: Sequence[Candidate], *, question: Question = "fixed_suite", confirmed: bool = False
) -> list[SuiteVerdict]:
    """Judge each candidate against the baseline, in the order given.

    P values of gating metrics are adjusted by Holm over all of them, times candidates; those of
    metrics that do not gate by Benjamini-Hochberg. `confirmed` says that the trials are fresh ones
    of both, made to confirm a suspicion.
    """
    given = list(chain.from_iterable(candidates))
    ways: dict[Filling, list[_Judged]] = {"left_out": _judge(given, "left_out", question)}
    if any(_may_be_filled(one) for one in given):
        ways["if_failed"] = _judge(given, "if_failed", question)
        ways["if_passed"] = _judge(given, "if_passed", question)
    metrics = iter(_settled(one, ways, place) for place, one in enumerate(given))
    return [
        _suite([next(metrics) for _ in candidate], question, confirmed=confirmed)
        for candidate in candidates
    ]


def invalid(reason: str, question: Question = "fixed_suite") -> SuiteVerdict:
    """Return the verdict on runs that cannot be compared, and why."""
    return SuiteVerdict(verdict="invalid", question=question, reason=reason)


def pairing_fault(common: int, unchanged: int) -> str | None:
    """Say why runs with so many samples in common, so many unchanged, cannot be compared."""
    if not common:
        return "no sample is in both runs"
    if reaches(unchanged / common, LEAST_UNCHANGED):
        return None
    return (
        f"only {unchanged} of the {common} samples in both runs are unchanged; "
        f"at least {LEAST_UNCHANGED:.0%} must be"
    )


def _may_be_filled(given: MetricPairs) -> bool:
    return given.metric.worst_and_best is not None and count_missing(given).total > 0


def _judge(given: Sequence[MetricPairs], filling: Filling, question: Question) -> list[_Judged]:
    measured = [_measured(one, filling, question) for one in given]
    adjusted = _adjusted(given, measured)
    return [
        _verdict(one, found, p) for one, found, p in zip(given, measured, adjusted, strict=True)
    ]


def _measured(given: MetricPairs, filling: Filling, question: Question) -> Measured | None:
    if _ungraded(given) is not None:
        return None
    pairs = filled(given, filling)
    return measure(given.metric, pairs, question) if pairs else None


def _ungraded(given: MetricPairs) -> str | None:
    """Say which run has no graded trial of a metric; None where both have."""
    for name in ("baseline", "candidate"):
        if not any(getattr(sample, name).graded for sample in given.samples):
            return f"no trial of the {name} is graded"
    return None


def _adjusted(
    given: Sequence[MetricPairs], measured: Sequence[Measured | None]
) -> list[PValues | None]:
    """Adjust p values over the metrics that gate, and over those that do not."""
    found: list[PValues | None] = [None] * len(given)
    for gates, adjust in ((True, holm), (False, benjamini_hochberg)):
        places = [place for place, one in enumerate(given) if one.metric.gating is gates]
        exact = [one.p if (one := measured[place]) else None for place in places]
        regressed = adjust([p.regress if p else 1.0 for p in exact])
        improved = adjust([p.improve if p else 1.0 for p in exact])
        for place, *both in zip(places, regressed, improved, strict=True):
            one = measured[place]
            if one is not None:
                found[place] = _p_values(one, (both[0], both[1]), len(places))
    return found


def _p_values(measured: Measured, adjusted: tuple[float, float], over: int) -> PValues:
    least = measured.p.least
    return PValues(
        test=measured.test,
        regressed=measured.p.regress,
        improved=measured.p.improve,
        adjusted_regressed=adjusted[0],
        adjusted_improved=adjusted[1],
        adjusted_over=over,
        least=None if reaches(ALPHA, least) else least,
    )


def _verdict(given: MetricPairs, measured: Measured | None, p: PValues | None) -> _Judged:
    if measured is None or p is None:
        reason = _ungraded(given) or "no sample has an outcome in both runs"
        return _Judged("invalid", reason=reason)
    if reaches(ALPHA, p.adjusted_regressed):
        return _Judged("regressed", measured, p)
    if reaches(ALPHA, p.adjusted_improved):
        return _Judged("improved", measured, p)
    low, margin = measured.difference.low, given.metric.margin
    if low is not None and margin is not None and low > -margin:
        return _Judged("no_worse", measured, p)
    return _Judged("inconclusive", measured, p, _open_reason(measured))


def _open_reason(measured: Measured) -> str:
    """Say why neither a change nor "no worse" can be said."""
    if measured.metric.margin is None:
        return "no margin is given, so that NO WORSE cannot be said"
    if measured.difference.low is None:
        return "the samples show no spread to estimate from"
    return "a drop as large as the margin is not ruled out"


def _settled(given: MetricPairs, ways: dict[Filling, list[_Judged]], place: int) -> MetricVerdict:
    """Return the verdict on one metric: the default way's numbers, and what holds every way."""
    judged = ways["left_out"][place]
    counts = count_missing(given)
    fillable = counts.total > 0 and given.metric.worst_and_best is not None
    verdicts: Ways = {
        filling: each[place].verdict
        for filling, each in ways.items()
        if fillable or filling == "left_out"
    }
    verdict, reason = settle(verdicts), judged.reason
    if verdict == "inconclusive" and len(set(verdicts.values())) > 1:
        reason = missing_reason(counts, verdicts)
    head = MetricVerdict(
        metric=given.metric.name,
        verdict=verdict,
        gating=given.metric.gating,
        unit=given.metric.unit,
        lower_is_better=given.metric.lower_is_better,
        reason=reason,
        margin=given.metric.margin,
        missing=missing_record(counts, verdicts) if counts.total else None,
        warnings=_warnings(given, judged, missing=counts.total),
    )
    return head if judged.measured is None else _with_numbers(head, judged.measured, judged.p)


def _with_numbers(head: MetricVerdict, measured: Measured, p: PValues | None) -> MetricVerdict:
    moves, low = measured.moves, measured.difference.low
    epochs, sides = epochs_of(measured.pairs), side_numbers(measured.metric, measured.pairs)
    within = head.margin is not None and low is not None and low > -head.margin
    return replace(
        head,
        samples=moves.samples,
        regressed=moves.regressed,
        improved=moves.improved,
        unchanged=moves.unchanged,
        baseline_epochs=epochs[0],
        candidate_epochs=epochs[1],
        baseline=sides[0],
        candidate=sides[1],
        difference=measured.difference,
        p=p,
        within_margin=head.verdict == "regressed" and within,
        power=power_of(measured),
    )


def _warnings(given: MetricPairs, judged: _Judged, *, missing: int) -> tuple[str, ...]:
    said = []
    if missing and given.metric.worst_and_best is None:
        said.append(
            f"the range of {given.metric.name} is not declared: its {missing} missing outcomes "
            "are left out, whatever they would have been"
        )
    if judged.measured is not None and judged.measured.test is None:
        said.append("one sample shows no spread: no test is made")
    if judged.p is not None and judged.p.least is not None and judged.measured is not None:
        changed = judged.measured.moves.regressed + judged.measured.moves.improved
        said.append(f"with {changed} changed samples no p value can be as low as {ALPHA}")
    return tuple(said)


def _suite(
    metrics: Sequence[MetricVerdict], question: Question, *, confirmed: bool
) -> SuiteVerdict:
    gating = [one for one in metrics if one.gating]
    if not gating:
        return SuiteVerdict(
            verdict="inconclusive",
            question=question,
            metrics=tuple(metrics),
            reason="no metric gates",
        )
    found = {one.verdict for one in gating}
    verdict: Verdict = next(word for word in SUITE_ORDER if word in found)
    stage: AlarmStage = "confirmed" if confirmed else "suspected"
    return SuiteVerdict(
        verdict=verdict,
        question=question,
        metrics=tuple(metrics),
        decided_by=tuple(one.metric for one in gating if one.verdict == verdict),
        reason=next((one.reason for one in gating if one.verdict == verdict), None),
        stage=stage if verdict == "regressed" else None,
        alpha=ALPHA,
    )
