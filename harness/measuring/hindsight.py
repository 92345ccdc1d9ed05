"""What a comparison that was made could have seen, and what it would take to see the margin."""

import math

from msgspec.structs import replace

from harness.measuring.flakiness import disagreement
from harness.measuring.metric_comparing import Measured, epochs_of
from harness.measuring.paired_differences import Spread
from harness.measuring.paired_outcomes import Pair, Pairs
from harness.measuring.power import (
    POWER,
    detectable_by_t,
    samples_by_t,
    unchanged_samples_needed,
)
from harness.measuring.run_pairs import RunPair
from harness.types.verdicts import Power

_DECIMALS = 9
_LEAST = 1e-6
_MOST = 1.0
_STEPS = 30


def power_of(measured: Measured) -> Power | None:
    """Say what the comparison could have seen, and what it would take to see the margin.

    Of passes that change by chance alone it says what a plan says of two such runs. None for
    scores that show no spread.
    """
    pairs, samples = measured.pairs, measured.moves.samples
    if measured.metric.kind == "score":
        return _of_spread(measured) if measured.spread.error else None
    if measured.test == "sign_flip":
        return _of_signs(measured)
    return _of_runs(RunPair(samples, *epochs_of(pairs), churn_seen(pairs)), measured)


def churn_seen(pairs: Pairs) -> float:
    """Return the share of samples that change between two epochs, 0..1: the mean over samples.

    Of each from its pairs of trials within one run, so that a change between both counts for
    nothing; where each run has one trial, from those two.
    """
    found = math.fsum(count * _disagreement(pair) for pair, count in pairs)
    return round(found / sum(count for _, count in pairs), _DECIMALS)


def _disagreement(pair: Pair) -> float:
    sides = ((pair.baseline_total, pair.baseline_trials),
             (pair.candidate_total, pair.candidate_trials))  # fmt: skip
    within = [(math.comb(k, 2), disagreement(round(c), k)) for c, k in sides if k > 1]
    if not within:
        return abs(pair.difference)
    return sum(ways * each for ways, each in within) / sum(ways for ways, _ in within)


def _of_runs(runs: RunPair, measured: Measured) -> Power:
    margin, detectable = _margin(measured), runs.detectable()
    if margin is None:
        return Power(detectable=detectable)
    found = Power(detectable=detectable, chance_of_margin=runs.chance(margin))
    fewest = min(runs.baseline_epochs, runs.candidate_epochs)
    if not runs.churn and measured.moves.unchanged == runs.samples:
        return _unchanged(found, margin, (runs.samples, fewest))
    if runs.chance(margin) >= POWER:
        return found
    return replace(
        found,
        samples_needed=_beyond(runs.samples, runs.samples_needed(margin)),
        epochs_needed=_beyond(fewest, runs.epochs_needed(margin)),
    )


def _of_spread(measured: Measured) -> Power:
    """Say it of scores, by what their differences over samples vary."""
    margin, spread = _margin(measured), measured.spread
    seen = detectable_by_t(spread.deviation, spread.samples)
    is_share = measured.metric.unit == "points"
    found = Power(detectable=None if is_share and seen > 1 else seen)
    if margin is None:
        return found
    return replace(
        found, samples_needed=_beyond(spread.samples, samples_by_t(spread.deviation, margin))
    )


def _of_signs(measured: Measured) -> Power:
    """Say it of passes over samples that stand for others: by what their differences vary.

    That is by d / K more where all pass by d less often in K epochs. And not below what is seen
    where no sample varies by itself, for it takes five that fall; each does that fails in one
    epoch. More epochs may not help.
    """
    margin, spread = _margin(measured), measured.spread
    epochs, steady = epochs_of(measured.pairs)[1], RunPair(spread.samples, 1, 1, 0.0)
    one = steady.detectable()
    least = _MOST if one is None else 1 - (1 - one) ** (1 / epochs)
    seen = least
    for _ in range(_STEPS):
        seen = max(detectable_by_t(_risen(spread, seen / epochs), spread.samples), least)
    found = Power(detectable=seen if seen < _MOST else None)
    if margin is None:
        return found
    if not spread.error:
        return _unchanged(found, margin, (spread.samples, None))
    fewest = steady.samples_needed(1 - (1 - min(margin, 1.0)) ** epochs)
    needed = max(samples_by_t(_risen(spread, margin / epochs), margin), fewest)
    return replace(found, samples_needed=_beyond(spread.samples, needed))


def _risen(spread: Spread, variance: float) -> float:
    """Return the deviation of the differences where they vary by so much more."""
    return math.sqrt(spread.deviation**2 + variance) if spread.deviation else 0.0


def _unchanged(found: Power, margin: float, of: tuple[int, int | None]) -> Power:
    """Say what would do where no trial differs: so many trials in all, without a change."""
    (samples, epochs), trials = of, unchanged_samples_needed(margin)
    return replace(
        found,
        samples_needed=_beyond(samples, -(-trials // (epochs or 1))),
        epochs_needed=None if epochs is None else _beyond(epochs, -(-trials // samples)),
        unchanged=True,
    )


def _margin(measured: Measured) -> float | None:
    """Return the margin; one that is next to nothing beside what varies is taken for a bit more."""
    margin, deviation = measured.metric.margin, measured.spread.deviation
    return None if margin is None else max(margin, _LEAST * (deviation or 1.0))


def _beyond(present: int, needed: int) -> int | None:
    return needed if needed > present else None
