"""Means of values in 0..1 with interval ends that hold for gates: none falls as values rise."""

import math
from collections.abc import Sequence

from harness.measuring.intervals import t_quantile, wilson
from harness.types.summaries import Interval


def firm_mean(values: Sequence[float]) -> Interval:
    """Estimate a mean of values in 0..1 with 95 % ends that no better values lower.

    The ends are those of the t interval; where all values are 0 or all are 1, and for a single one,
    those of Wilson's, for no value in 0..1 varies more than passes and failures do. A high value
    that stands out lowers the low end of the t interval, and so do values that all come to 1; each
    low end is therefore the lowest which these values or any better ones have, and each high end
    the highest which these or any worse ones have.
    """
    if not values:
        return Interval(value=None)
    centre = math.fsum(values) / len(values)
    low, high = _low_end(values), 1 - _low_end([1 - value for value in values])
    return Interval(value=centre, low=min(low, centre), high=max(high, centre))


def _low_end(values: Sequence[float]) -> float:
    """Return the lowest low end of these values and of all of which none is lower.

    Of those with one sum the lowest has the largest spread, which comes of raising the best values
    to 1, one after the other. While one rises the end bends down, so that it is lowest at a start.
    """
    n = len(values)
    if n == 1:
        return wilson(values[0], n)[0]
    steps, best = t_quantile(n - 1, 0.975) / math.sqrt(n * (n - 1)), wilson(1.0, n)[0]
    total = math.fsum(values)
    squares = math.fsum((value - total / n) ** 2 for value in values)
    for value in sorted(values, reverse=True):
        best = min(best, total / n - steps * math.sqrt(max(squares, 0.0)))
        rise = 1 - value
        squares += rise * (rise + 2 * (value - total / n)) - rise * rise / n
        total += rise
    return max(best, 0.0)
