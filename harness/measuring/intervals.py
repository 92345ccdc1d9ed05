"""Estimates with their 95 % intervals."""

import math
from collections.abc import Sequence
from statistics import NormalDist

from harness.types.summaries import Mean

Z = NormalDist().inv_cdf(0.975)
"""How many standard errors a 95 % interval reaches to either side, many trials given."""


def wilson(rate: float, n: float) -> tuple[float, float]:
    """Return Wilson's 95 % score interval of a rate in 0..1 that `n` independent trials would show.

    `n` > 0 may be fractional. The low end is exactly 0 at rate 0, the high end exactly 1 at
    rate 1. Source: Wilson (1927), J. Am. Stat. Assoc. 22, 209-212.
    """
    shrink = 1 + Z * Z / n
    centre = (rate + Z * Z / (2 * n)) / shrink
    half = Z * math.sqrt(rate * (1 - rate) / n + Z * Z / (4 * n * n)) / shrink
    low = 0.0 if rate == 0 else max(centre - half, 0.0)
    high = 1.0 if rate == 1 else min(centre + half, 1.0)
    return min(low, rate), max(high, rate)


def mean(means: Sequence[float], *, bounds: tuple[float, float] = (0.0, 1.0)) -> Mean:
    """Estimate a mean from each sample's mean, with the t interval over samples.

    The ends are cut at the bounds that the values have: scores lie in 0..1. For one sample, and
    where all are equal, there is no spread to estimate from and the ends are None.
    """
    n = len(means)
    if n == 0:
        return Mean(mean=None)
    centre = math.fsum(means) / n
    if min(means) == max(means):  # rounding makes a spread of equal values
        return Mean(mean=centre)
    squares = math.fsum((x - centre) ** 2 for x in means)
    half = t_quantile(n - 1, 0.975) * math.sqrt(squares / (n - 1) / n)
    return Mean(mean=centre, low=max(centre - half, bounds[0]), high=min(centre + half, bounds[1]))


def t_quantile(degrees: int, share: float) -> float:
    """Return the value below which `share` (0..1) of the t distribution lies.

    From 100 degrees on by an expansion in 1 / degrees, to eight digits. Source: Abramowitz and
    Stegun (1964), 26.7.5.
    """
    if degrees >= _MANY:
        return _expanded_t(degrees, NormalDist().inv_cdf(share))
    # scipy takes a noticeable part of a second to load, and only the end of a run needs it.
    from scipy.special import stdtrit  # noqa: PLC0415

    return float(stdtrit(degrees, share))


_MANY = 100


def _expanded_t(degrees: int, z: float) -> float:
    """Return the t quantile of many degrees where z is that of the normal distribution."""
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return math.fsum(term / degrees**power for power, term in enumerate(terms))


def quantile(values: Sequence[float], share: float) -> float | None:
    """Return the value below which `share` (0..1) of the values lie, interpolated linearly."""
    if not values:
        return None
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
