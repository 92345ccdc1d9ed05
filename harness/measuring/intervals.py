"""Estimates with their 95 % intervals."""

import math
from collections.abc import Sequence
from statistics import NormalDist

from harness.types.summaries import Interval, Mean

_Z = NormalDist().inv_cdf(0.975)


def wilson(rate: float, n: float) -> tuple[float, float]:
    """Return Wilson's 95 % score interval of a rate in 0..1 that `n` independent trials would show.

    `n` > 0 may be fractional. The low end is exactly 0 at rate 0, the high end exactly 1 at
    rate 1. Source: Wilson (1927), J. Am. Stat. Assoc. 22, 209-212.
    """
    shrink = 1 + _Z * _Z / n
    centre = (rate + _Z * _Z / (2 * n)) / shrink
    half = _Z * math.sqrt(rate * (1 - rate) / n + _Z * _Z / (4 * n * n)) / shrink
    low = 0.0 if rate == 0 else max(centre - half, 0.0)
    high = 1.0 if rate == 1 else min(centre + half, 1.0)
    return min(low, rate), max(high, rate)


def pass_rate(means: Sequence[float], trials: int) -> Interval:
    """Estimate a pass rate from each sample's mean over its epochs.

    `trials` is how many trials lie behind the means. With one epoch this is Wilson's interval;
    with more, repeats of a sample are not taken for samples: the interval is Wilson's on the
    number of independent trials that would have the standard error which the samples show,
    between the number of samples and that of trials.
    """
    n = len(means)
    if n == 0:
        return Interval(value=None)
    rate = math.fsum(means) / n
    if n == 1 and trials > 1:
        return Interval(value=rate)
    low, high = wilson(rate, effective_trials(means, trials))
    return Interval(value=rate, low=low, high=high)


def effective_trials(means: Sequence[float], trials: int) -> float:
    """Return how many independent trials would say as much as these samples' means do.

    rate(1 - rate) / standard error^2, between the number n >= 1 of samples and that of trials; n
    where all means are equal. Source: Korn and Graubard (1998), Surv. Methodol. 24, 193-201.
    """
    n = len(means)
    if trials == n or min(means) == max(means):  # rounding makes a spread of equal means
        return n
    rate = math.fsum(means) / n
    squares = math.fsum((x - rate) ** 2 for x in means)
    variance = squares / (n - 1) / n
    return min(max(rate * (1 - rate) / variance, n), trials)


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
