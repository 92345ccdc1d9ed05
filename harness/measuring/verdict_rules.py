"""The rule that gives one metric its verdict, and p values adjusted for being several."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.measuring.metric_comparing import Measured
from harness.measuring.multiplicity import benjamini_hochberg, holm
from harness.measuring.paired_outcomes import MetricPairs
from harness.system.numbers import reaches
from harness.types.verdicts import PValues, Verdict

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Judged:
    """One metric under one way of filling in."""

    verdict: Verdict
    measured: Measured | None = None
    p: PValues | None = None
    reason: str | None = None


def judge_metrics(
    given: Sequence[MetricPairs], measured: Sequence[Measured | None]
) -> list[Judged]:
    """Judge metrics under one way of filling in, None being one that could not be measured.

    P values of gating metrics are adjusted by Holm, those of others by Benjamini-Hochberg. What
    moves together is not tested unless it gates, for its p value would say nothing, and be in the
    way of those of the others.
    """
    adjusted = _adjusted(given, measured)
    return [
        _verdict(one, found, p) for one, found, p in zip(given, measured, adjusted, strict=True)
    ]


def ungraded(given: MetricPairs) -> str | None:
    """Say which run has no graded trial of a metric; None where both have."""
    if given.metric.lower_is_better and not given.samples:
        return f"{given.metric.name} is not known of any sample in both runs"
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
        places = [
            place
            for place, one in enumerate(given)
            if one.metric.gating is gates and (gates or not one.metric.moves_together)
        ]
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


def _verdict(given: MetricPairs, measured: Measured | None, p: PValues | None) -> Judged:
    if measured is None:
        reason = ungraded(given) or "no sample has an outcome in both runs"
        return Judged("invalid", reason=reason)
    if p is None:
        return Judged("inconclusive", measured, reason=_untested_reason(measured))
    if reaches(ALPHA, p.adjusted_regressed):
        return Judged("regressed", measured, p)
    if reaches(ALPHA, p.adjusted_improved):
        return Judged("improved", measured, p)
    low, margin = measured.difference.low, given.metric.margin
    if low is not None and margin is not None and low > -margin:
        return Judged("no_worse", measured, p)
    return Judged("inconclusive", measured, p, _open_reason(measured))


def _open_reason(measured: Measured) -> str:
    """Say why neither a change nor "no worse" can be said."""
    if measured.metric.margin is None:
        name = measured.metric.name
        return f"no margin of {name} is given, so that NO WORSE cannot be said"
    if measured.difference.low is None:
        return "the samples show no spread to estimate from"
    change = "rise" if measured.metric.lower_is_better else "drop"
    return f"a {change} as large as the margin is not ruled out"


def _untested_reason(measured: Measured) -> str:
    """Say why there is an interval and no p value."""
    name = measured.metric.name
    return f"not tested, as load moves {name} of a whole run; `--metric {name}` asks for it"
