"""The samples' differences between two runs, summed up."""

import math
from dataclasses import dataclass

from harness.measuring.paired_outcomes import MetricPairs, Pairs, filled


@dataclass(frozen=True, slots=True)
class Spread:
    """The mean of the samples' differences, and its standard error over samples.

    `deviation` is the standard deviation by n - 1, and it and `error` are 0 for one sample.
    """

    samples: int
    mean: float
    deviation: float
    error: float


@dataclass(frozen=True, slots=True)
class Moves:
    """How many samples' means fell, rose and stayed."""

    regressed: int
    improved: int
    unchanged: int

    @property
    def samples(self) -> int:
        """Return how many there are."""
        return self.regressed + self.improved + self.unchanged


_SAME = 1e-10
"""Means nearer than this are equal: what sums in another order may differ by."""


def spread_of(pairs: Pairs) -> Spread:
    """Return the mean of d_j = candidate's mean - baseline's mean, and its error.

    Differences that are equal but for rounding have the deviation 0. At least one pair.
    """
    counted = [(b / after - a / before, count) for (a, before, b, after), count in pairs]
    n = sum(count for _, count in counted)
    mean = math.fsum(difference * count for difference, count in counted) / n
    if all(abs(difference - mean) <= _SAME for difference, _ in counted):
        return Spread(n, 0.0 if abs(mean) <= _SAME else mean, 0.0, 0.0)
    squares = math.fsum((difference - mean) ** 2 * count for difference, count in counted)
    deviation = math.sqrt(squares / (n - 1))
    return Spread(n, mean, deviation, deviation / math.sqrt(n))


def errored_moves(given: MetricPairs) -> Moves:
    """Count the moves of those samples that have nothing but errors on one side."""
    errored = [
        sample
        for sample in given.samples
        if sample.baseline.has_only_errors or sample.candidate.has_only_errors
    ]
    return moves_of(filled(MetricPairs(given.metric, errored), "left_out"))


def moves_of(pairs: Pairs) -> Moves:
    """Count the samples whose means fell, rose and stayed."""
    fell = rose = stayed = 0
    for (a, before, b, after), count in pairs:
        difference = b / after - a / before
        fell += count * (difference < -_SAME)
        rose += count * (difference > _SAME)
        stayed += count * (abs(difference) <= _SAME)
    return Moves(fell, rose, stayed)
