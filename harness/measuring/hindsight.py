"""What a comparison that was made could have seen, and what it would take to see the margin."""

import math

from msgspec.structs import replace

from harness.measuring.flakiness import disagreement
from harness.measuring.metric_comparing import Measured, epochs_of
from harness.measuring.paired_outcomes import Pair, Pairs
from harness.measuring.power import (
    LEAST_CHANGED,
    POWER,
    detectable_by_t,
    samples_by_t,
    unchanged_samples_needed,
)
from harness.measuring.run_pairs import RunPair
from harness.types.verdicts import Power

_DECIMALS = 9
_ROUNDING = 1e-9
_LEAST = 1e-6


def power_of(measured: Measured) -> Power | None:
    """Say what the comparison could have seen, and what it would take to see the margin.

    Of passes that change by chance alone it says what a plan says of two such runs. None for
    scores that show no spread.
    """
    pairs, samples = measured.pairs, measured.moves.samples
    if measured.metric.kind == "score":
        return _of_spread(measured, 0.0) if measured.spread.error else None
    if measured.test == "sign_flip":
        return _of_spread(measured, LEAST_CHANGED / samples)
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


def _of_spread(measured: Measured, floor: float) -> Power:
    """Say it of a test over samples, by what their differences vary; more epochs may not help."""
    margin, spread = _margin(measured), measured.spread
    seen = max(detectable_by_t(spread.deviation, spread.samples), floor)
    is_share = measured.metric.unit == "points"
    found = Power(detectable=None if is_share and seen > 1 else seen)
    if margin is None:
        return found
    if not spread.error:
        return _unchanged(found, margin, (spread.samples, None))
    least = math.ceil(floor * spread.samples / margin - _ROUNDING)
    needed = max(samples_by_t(spread.deviation, margin), least)
    return replace(found, samples_needed=_beyond(spread.samples, needed))


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
