"""What a comparison of two runs will see, before either is made: power of its verdicts."""

import math
from collections.abc import Sequence
from statistics import NormalDist

from harness.measuring.flakiness import disagreement
from harness.measuring.power import (
    ALPHA,
    LEAST_CHANGED,
    POWER,
    detectable_from_churn,
    detectable_from_error,
    exact_detectable,
    mcnemar_power,
    samples_for_churn,
    times_as_much,
    unchanged_samples_needed,
    verdict_chances,
)
from harness.types.suite_plans import Chances, ChurnSource, Sight

EXACT_UP_TO = 200
"""With more samples the formula promises no more than it keeps."""

_CERTAIN = NormalDist().inv_cdf(1 - ALPHA)
_MOST_CHANGE = 1.0
_EXACTLY_SOUGHT = 10_000
_ROUNDING = 1e-9


def sight(
    samples: int, epochs: int, *, churn: float, detect: float, source: ChurnSource = "assumed"
) -> Sight:
    """Return what two runs of so many samples and epochs see of a drop of `detect`.

    `churn` (0..1) is the share of samples that change between two runs of one epoch with nothing
    changed, half of them up and half down. One epoch of up to 200 samples is computed exactly.
    """
    single = epochs == 1
    is_exact = single and samples <= EXACT_UP_TO
    error = math.sqrt(churn / epochs / samples)
    if is_exact:
        detectable = exact_detectable(samples, improve=churn / 2)
    elif single:
        detectable = detectable_from_churn(churn, samples)
    else:
        detectable = detectable_from_error(error, LEAST_CHANGED / (samples * epochs))
    chance = _chance(samples, epochs, churn, detect)
    return Sight(
        churn=churn,
        source=source,
        detectable=None if detectable is None or detectable > 1 else detectable,
        chance=chance,
        samples_needed=_samples_needed(epochs, churn, detect),
        epochs_needed=_epochs_needed(samples, churn, detect, is_enough=single and chance >= POWER),
        verdicts=_verdicts(samples, churn, detect) if is_exact else (),
    )


def _chance(samples: int, epochs: int, churn: float, drop: float) -> float:
    """Return the chance that a drop alarms: exact for one epoch, else by the normal distribution.

    With several epochs the variance is that of nothing changed, as in the formulas of power.
    """
    if epochs == 1:
        improve = churn / 2
        regress = min(improve + drop, _MOST_CHANGE - improve)
        return mcnemar_power(samples, regress=regress, improve=improve)
    if drop * samples * epochs < LEAST_CHANGED:
        return 0.0
    error = math.sqrt(churn / epochs / samples)
    return 1.0 if error == 0 else NormalDist().cdf(drop / error - _CERTAIN)


def _samples_needed(epochs: int, churn: float, detect: float) -> int:
    """Return the samples that see the drop, with as many epochs, and say "no worse" without it.

    For one epoch exactly, the drop being itself a change; else, and beyond ten thousand samples,
    by the formula.
    """
    trials = max(unchanged_samples_needed(detect), math.ceil(LEAST_CHANGED / detect - _ROUNDING))
    formula = samples_for_churn((churn + (detect if epochs == 1 else 0.0)) / epochs, detect)
    if epochs == 1 and formula <= _EXACTLY_SOUGHT:
        formula = _exact_samples(churn, detect, 2 * formula)
    return max(formula, -(-trials // epochs))


def _exact_samples(churn: float, detect: float, most: int) -> int:
    """Return the fewest samples that see the drop in four cases of five, looked for by halves."""
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        enough = _chance(middle, 1, churn, detect) >= POWER
        low, high = (low, middle) if enough else (middle + 1, high)
    return low


def _epochs_needed(samples: int, churn: float, detect: float, *, is_enough: bool) -> int:
    """Return the epochs that see the drop on these samples, by the formula of a fixed suite.

    `is_enough` says that one does, by the exact test.
    """
    if is_enough:
        return 1
    floor = math.ceil(LEAST_CHANGED / (detect * samples) - _ROUNDING)
    whole = -(-unchanged_samples_needed(detect) // samples)
    error = math.sqrt(churn / samples)
    return max(times_as_much(detectable_from_error(error), detect, 1), floor, whole, 2)


def _verdicts(samples: int, churn: float, detect: float) -> tuple[Chances, ...]:
    improve = churn / 2
    drops = [drop for drop in (0.0, detect, 2 * detect) if 2 * improve + drop < _MOST_CHANGE]
    found = [
        (drop, verdict_chances(samples, margin=detect, drop=drop, improve=improve))
        for drop in drops
    ]
    return tuple(
        Chances(
            drop=drop,
            regressed=of.regressed,
            improved=of.improved,
            no_worse=of.no_worse,
            inconclusive=of.inconclusive,
        )
        for drop, of in found
    )


def churn_of(samples: Sequence[tuple[int, int]]) -> tuple[float, ChurnSource] | None:
    """Return how many samples change with nothing changed, from (passes, trials) of each.

    Where samples have two trials or more it is the mean of 2c(K - c) / (K(K - 1)) over those,
    which has no bias. Where none has, it is at most 2p(1 - p), p being the pass rate: as if all
    samples were equally hard. None for no trial.
    """
    repeated = [disagreement(c, k) for c, k in samples if k > 1]
    if repeated:
        return math.fsum(repeated) / len(repeated), "measured"
    ran = [(c, k) for c, k in samples if k]
    if not ran:
        return None
    rate = sum(c for c, _ in ran) / len(ran)
    return 2 * rate * (1 - rate), "at_most"
