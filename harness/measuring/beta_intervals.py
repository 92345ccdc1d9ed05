"""Intervals of a pass rate that come from the beta distribution: exact, and Jeffreys'."""

import math


def clopper_pearson(passes: int, trials: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of a pass rate, which never covers too little and is wide.

    For safety claims. `trials` >= 1. The low end is exactly 0 at no pass, the high end exactly 1
    at passes only. Source: Clopper and Pearson (1934), Biometrika 26, 404-413.
    """
    from scipy.special import betaincinv  # noqa: PLC0415 - it loads slowly

    tail = (1 - confidence) / 2
    low = betaincinv(passes, trials - passes + 1, tail) if passes else 0.0
    high = betaincinv(passes + 1, trials - passes, 1 - tail) if passes < trials else 1.0
    return float(low), float(high)


def jeffreys(passes: int, trials: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return the middle part of Beta(passes + 1/2, failures + 1/2); of no trial, of the prior.

    The ends are not forced to 0 or 1. Source: Brown, Cai and DasGupta (2001), Stat. Sci. 16,
    101-133.
    """
    from scipy.special import betaincinv  # noqa: PLC0415 - it loads slowly

    tail = (1 - confidence) / 2
    a, b = passes + 0.5, trials - passes + 0.5
    return float(betaincinv(a, b, tail)), float(betaincinv(a, b, 1 - tail))


def failure_rate_bound(clean_trials: int, *, confidence: float = 0.95) -> float:
    """Return the failure rate that so many trials without one failure rule out: 1 - 0.05^(1/n).

    One-sided; 149 clean trials say "below 2 %".
    """
    return 1 - math.pow(1 - confidence, 1 / clean_trials)
