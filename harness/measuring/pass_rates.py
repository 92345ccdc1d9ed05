"""Pass rates with 95 % intervals, of which neither end falls where a result gets better."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from harness.measuring.intervals import Z, wilson
from harness.types.summaries import Interval

Tries = Mapping[tuple[int, int], int]
"""How many samples passed so many trials of so many (at least one)."""

_DIGITS = 6


def pass_rate(tries: Tries) -> Interval:
    """Estimate a pass rate, every sample weighing the same.

    With one epoch this is Wilson's interval; with more, repeats of a sample are not taken for
    samples: it is Wilson's on the number of independent trials that would have the standard error
    which the samples show. That number falls where a failure or a pass stands out, and where all
    agree; so each low end is the lowest of those that this result and every better one have, and
    each high end the highest of this one's and every worse one's. One sample of several epochs has
    no interval.
    """
    samples = _Samples.of(tries)
    if samples.count == 0:
        return Interval(value=None)
    rate = samples.rate
    if samples.trials == samples.count:
        low, high = wilson(rate, samples.count)
        return Interval(value=rate, low=low, high=high)
    if samples.count == 1:
        return Interval(value=rate)
    low, high = samples.low_end(), 1 - samples.turned().low_end()
    return Interval(value=rate, low=min(low, rate), high=max(high, rate))


def effective_trials(tries: Tries) -> float:
    """Return how many independent trials have the standard error that at least one sample shows.

    rate(1 - rate) / standard error^2, between the number of samples and that of trials; the number
    of samples where all have one rate. Source: Korn and Graubard (1998), Surv. Methodol. 24,
    193-201.
    """
    samples = _Samples.of(tries)
    return samples.worth(samples.total, samples.squares)


def worth(rate: Interval) -> float | None:
    """Return how many independent trials would have Wilson's interval as wide as this one.

    By the end that is further from the rate for its place; None without an interval.
    """
    value = rate.value
    if value is None or rate.low is None or rate.high is None:
        return None
    ends = [end for end in (rate.low, rate.high) if end != value]
    found = [Z * Z * end * (1 - end) / (value - end) ** 2 for end in ends if 0 < end < 1]
    return round(min(found), _DIGITS) if found else None


@dataclass(frozen=True)
class _Samples:
    """The pass rates of samples, as whole numbers of `parts` of one, with how many have each."""

    rates: Mapping[int, int]
    parts: int
    trials: int

    @classmethod
    def of(cls, tries: Tries) -> "_Samples":
        parts = math.lcm(*(trials for _, trials in tries))
        rates: dict[int, int] = {}
        for (passes, trials), count in tries.items():
            rate = passes * parts // trials
            rates[rate] = rates.get(rate, 0) + count
        every = sum(trials * count for (_, trials), count in tries.items())
        return cls({rate: count for rate, count in rates.items() if count}, parts, every)

    def turned(self) -> "_Samples":
        """Return the same with passes for failures."""
        rates = {self.parts - rate: count for rate, count in self.rates.items()}
        return _Samples(rates, self.parts, self.trials)

    @cached_property
    def count(self) -> int:
        return sum(self.rates.values())

    @cached_property
    def total(self) -> int:
        return sum(rate * count for rate, count in self.rates.items())

    @cached_property
    def squares(self) -> int:
        return sum(rate * rate * count for rate, count in self.rates.items())

    @property
    def rate(self) -> float:
        return self._rate(self.total)

    def _rate(self, total: int) -> float:
        return total / (self.count * self.parts)

    def worth(self, total: int, squares: int) -> float:
        """Return the effective number of trials where the rates have this sum, and of squares."""
        return self._clipped(*self._ratio(total, squares))

    def _ratio(self, total: int, squares: int) -> tuple[int, int]:
        """Return rate(1 - rate) and standard error^2, both times the same number."""
        whole, n = self.count * self.parts, self.count
        return total * (whole - total) * (n - 1), n * squares - total * total

    def _clipped(self, variance: int, error: int) -> float:
        if error == 0:
            return self.count
        return min(max(variance / error, self.count), self.trials)

    def _low(self, total: int, squares: int) -> float:
        return wilson(self._rate(total), self.worth(total, squares))[0]

    def low_end(self) -> float:
        """Return the lowest low end of this result and of all in which no sample passes less.

        Of those with one sum the lowest has the largest spread, which comes of raising the best
        samples to the top, one after the other; or all are equal, and none is better than the best.
        """
        top, total, squares = self.parts, self.total, self.squares
        best = min(self._low(total, squares), wilson(max(self.rates) / self.parts, self.count)[0])
        for rate in sorted(self.rates, reverse=True):
            for _ in range(self.rates[rate] if rate < top else 0):
                # No number of trials is below that of samples, and more passes raise all from here.
                if wilson(self._rate(total), self.count)[0] >= best:
                    return best
                best = self._lowest(best, (total, squares), rate, top)
                total, squares = total + top - rate, squares + top * top - rate * rate
        return best

    def _lowest(self, best: float, sums: tuple[int, int], start: int, stop: int) -> float:
        """Return the lowest low end while one sample rises from a rate to another, or `best`."""
        ends = _risen(sums, start, stop)
        best = min(best, self._low(*ends))
        if stop - start == 1 or self._bound(sums, ends) >= best:
            return best
        middle = (start + stop) // 2
        best = self._lowest(best, sums, start, middle)
        return self._lowest(best, _risen(sums, start, middle), middle, stop)

    def _bound(self, sums: tuple[int, int], ends: tuple[int, int]) -> float:
        """Return what no low end is below while one sample rises.

        On the way the variance of trials is least at an end, and the standard error largest.
        """
        (variance, error), (other_variance, other_error) = self._ratio(*sums), self._ratio(*ends)
        fewest = self._clipped(min(variance, other_variance), max(error, other_error))
        return wilson(self._rate(sums[0]), fewest)[0]


def _risen(sums: tuple[int, int], start: int, stop: int) -> tuple[int, int]:
    """Return the sum of rates, and that of squares, after one sample has risen."""
    total, squares = sums
    return total + stop - start, squares + stop * stop - start * start
