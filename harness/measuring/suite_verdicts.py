"""Verdicts on two runs: per metric, with p values adjusted for being several, and altogether."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from msgspec.structs import replace

from harness.measuring.hindsight import power_of
from harness.measuring.metric_comparing import (
    Measured,
    epochs_of,
    measure,
    side_numbers,
)
from harness.measuring.missing_outcomes import (
    MissingCounts,
    Ways,
    count_missing,
    either_way_reason,
    missing_reason,
    missing_record,
    settle,
)
from harness.measuring.paired_differences import errored_moves
from harness.measuring.paired_outcomes import (
    Filling,
    MetricPairs,
    Pairs,
    complete,
    filled,
    incomplete,
)
from harness.measuring.verdict_rules import ALPHA, Judged, judge_metrics, ungraded
from harness.system.numbers import reaches
from harness.system.shown_numbers import counted
from harness.system.shown_shares import rounded_percent
from harness.types.verdicts import (
    SUITE_ORDER,
    AlarmStage,
    MetricVerdict,
    Question,
    SuiteVerdict,
    Verdict,
)

LEAST_UNCHANGED = 0.9
"""The share of the samples in both runs that must be unchanged for the runs to be compared."""

_FILLINGS: tuple[Filling, ...] = ("left_out", "if_failed", "if_passed")

Candidate = Sequence[MetricPairs]
"""The metrics of one candidate, each paired with the baseline's."""


@dataclass(frozen=True, slots=True)
class _Given:
    """The outcomes of one metric, and what is missing of them."""

    pairs: MetricPairs
    missing: MissingCounts

    @property
    def may_be_filled(self) -> bool:
        """Say whether something is missing that can be filled in."""
        return self.missing.total > 0 and self.pairs.metric.worst_and_best is not None


def judge_runs(
    candidates: Sequence[Candidate],
    *,
    question: Question = "fixed_suite",
    confirmed: bool = False,
    says_power: bool = True,
) -> list[SuiteVerdict]:
    """Judge each candidate against the baseline, in the order given.

    P values of gating metrics are adjusted by Holm over all of them, times candidates; those of
    metrics that do not gate by Benjamini-Hochberg. `confirmed` says that the trials are fresh ones
    of both, made to confirm a suspicion. Without `says_power` what could have been seen is not
    told, which takes a part of a second.
    """
    given = [_Given(one, count_missing(one)) for one in chain.from_iterable(candidates)]
    pairs = [one.pairs for one in given]
    graded = [filled(complete(one), "left_out") for one in pairs]
    some = any(one.may_be_filled for one in given)
    ways: dict[Filling, list[Judged]] = {}
    for filling in _FILLINGS if some else _FILLINGS[:1]:
        measured = [
            _measured(one, known, filling, question)
            for one, known in zip(pairs, graded, strict=True)
        ]
        ways[filling] = judge_metrics(pairs, measured)
    settled = (_settled(one, ways, place) for place, one in enumerate(given))
    found = zip(settled, ways["left_out"], strict=True)
    metrics = iter(_with_power(*one) if says_power else one[0] for one in found)
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
    kept = f"only {unchanged:,}" if unchanged else "none"
    return (
        f"of {counted(common, 'sample')} in both runs {kept} stayed unchanged; "
        f"at least {rounded_percent(LEAST_UNCHANGED)} must"
    )


def _measured(
    given: MetricPairs, graded: Pairs, filling: Filling, question: Question
) -> Measured | None:
    """Measure a metric, of which the pairs without missing outcomes are known already."""
    if ungraded(given) is not None:
        return None
    pairs = [*graded, *filled(incomplete(given), filling)]
    return measure(given.metric, pairs, question) if pairs else None


def _settled(given: _Given, ways: dict[Filling, list[Judged]], place: int) -> MetricVerdict:
    """Return the verdict on one metric: the default way's numbers, and what holds every way."""
    judged, metric, counts = ways["left_out"][place], given.pairs.metric, given.missing
    verdicts: Ways = {
        filling: each[place].verdict
        for filling, each in ways.items()
        if given.may_be_filled or filling == "left_out"
    }
    verdict, reason = settle(verdicts), judged.reason
    if verdict == "inconclusive" and len(set(verdicts.values())) > 1:
        reason = missing_reason(counts, verdicts)
    elif verdict != "inconclusive" and judged.verdict == "inconclusive":
        reason = either_way_reason(counts, verdict)
    head = MetricVerdict(
        metric=metric.name,
        verdict=verdict,
        gating=metric.gating,
        unit=metric.unit,
        lower_is_better=metric.lower_is_better,
        reason=reason,
        margin=metric.margin,
        missing=missing_record(counts, verdicts) if counts.total else None,
        warnings=_warnings(given, judged),
    )
    return _with_numbers(head, judged, given.pairs)


def _with_numbers(head: MetricVerdict, judged: Judged, given: MetricPairs) -> MetricVerdict:
    measured = judged.measured
    if measured is None:
        return head
    moves, errored, low = measured.moves, errored_moves(given), measured.difference.low
    epochs, sides = epochs_of(measured.pairs), side_numbers(measured.metric, measured.pairs)
    within = head.margin is not None and low is not None and low > -head.margin
    return replace(
        head,
        samples=moves.samples,
        regressed=moves.regressed - errored.regressed,
        improved=moves.improved - errored.improved,
        errored=errored.regressed + errored.improved,
        unchanged=moves.unchanged,
        baseline_epochs=epochs[0],
        candidate_epochs=epochs[1],
        baseline=sides[0],
        candidate=sides[1],
        difference=measured.difference,
        p=judged.p,
        within_margin=head.verdict == "regressed" and within,
    )


def _with_power(found: MetricVerdict, judged: Judged) -> MetricVerdict:
    measured = judged.measured if found.gating else None
    return found if measured is None else replace(found, power=power_of(measured))


def _warnings(given: _Given, judged: Judged) -> tuple[str, ...]:
    said = []
    missing = given.missing.total
    if missing and not given.may_be_filled:
        said.append(
            f"the range of {given.pairs.metric.name} is not declared: "
            f"{counted(missing, 'missing outcome')} left out, whatever would have come of it"
        )
    metric = given.pairs.metric
    if judged.p is not None and metric.moves_together:
        said.append(
            f"{metric.name}: load moves all trials of a run together, which the test does not "
            "know, so that unchanged runs may come out as changed: believe it where it comes "
            "again on fresh runs of both"
        )
    if judged.measured is not None and judged.measured.test is None:
        said.append("one sample shows no spread: no test is made")
    elif judged.p is not None and judged.p.least is not None and judged.measured is not None:
        changed = judged.measured.moves.regressed + judged.measured.moves.improved
        samples = counted(changed, "changed sample") if changed else "no changed sample"
        said.append(f"with {samples} no p value could be as low as {ALPHA}")
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
