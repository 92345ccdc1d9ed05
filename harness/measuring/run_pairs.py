"""Two runs of known size: how likely a drop is called REGRESSED, and what sees it.

Plans and comparisons both ask here, so that neither promises what the other denies.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist

from harness.measuring.drawn_runs import MOST_EPOCHS, Rates, chance_of_alarm
from harness.measuring.power import (
    ALPHA,
    LEAST_CHANGED,
    POWER,
    detectable_from_churn,
    fewest,
    mcnemar_power,
    samples_for_churn,
    unchanged_samples_needed,
)

_MOST_DRAWN = 1000
"""With more trials a run, breaking samples count as so many single trials: they seldom clump."""

_MOST_CLUMPING = 10
"""With more epochs two failures of one sample are as likely in one run as those of two samples."""

_MOST_EXACT = 20_000
"""With more expected changes the normal distribution is as good."""

_CERTAIN = NormalDist().inv_cdf(1 - ALPHA)
MOST_CHURN = 0.5
"""That of coin tosses: what passes half the time changes half the time."""

_MOST_CHANGE = 1.0
_LEAST_DROP = 1e-6
"""A smaller one would take more samples than can be counted; so many are needed at least."""

_ROUNDING = 1e-9
_PRECISION = 1.005


@dataclass(frozen=True, slots=True)
class RunPair:
    """Two runs of as many samples, each with its epochs, and what changes by chance.

    `churn` (0..1) is the share of samples that change between two runs of one epoch with nothing
    changed, half of them up and half down; above 0.5 it is taken for that.
    """

    samples: int
    baseline_epochs: int
    candidate_epochs: int
    churn: float

    @property
    def trials(self) -> float:
        """Return how many single trials a run say as much: samples * 2 * K_A * K_B / (K_A + K_B).

        The trials of a run, where both have as many.
        """
        before, after = self.baseline_epochs, self.candidate_epochs
        return self.samples * 2 * before * after / (before + after)

    def chance(self, drop: float) -> float:
        """Return the chance that a drop alarms by which every sample passes as much less often.

        For one epoch exactly, all samples having the mean odds; by drawn runs for 2 to 10, up to
        a thousand trials a run, else as for one epoch of as many samples as there are trials.
        Where very many change, by the normal distribution.
        """
        return _chance(self, drop)

    def chance_if_whole(self, drop: float) -> float:
        """Return it where as few samples as can be, which always passed, never do."""
        rates = _broken(self._rates(), drop * self.samples)
        before, after = self.baseline_epochs, self.candidate_epochs
        return chance_of_alarm(
            rates, min(before, MOST_EPOCHS), candidate_epochs=min(after, MOST_EPOCHS)
        )

    def detectable(self) -> float | None:
        """Return the smallest drop of every sample that alarms in four cases of five, if any.

        To half a percent of itself, and rounded up.
        """
        near = min(self._formula(), _MOST_CHANGE)
        high = _first(lambda drop: self.chance(drop) >= POWER, near, _MOST_CHANGE)
        if high is None:
            return None
        low = high / 2
        while high > low * _PRECISION:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if self.chance(middle) >= POWER else (middle, high)
        return high

    def samples_needed(self, drop: float) -> int:
        """Return the fewest samples that see the drop, with the epochs as they are.

        And that say "no worse" where no trial changes.
        """
        drop, of_one = max(drop, _LEAST_DROP), self.trials / self.samples
        whole = math.ceil(unchanged_samples_needed(drop) / of_one)
        formula = math.ceil(samples_for_churn(self.churn + drop, drop) / of_one)
        sees = fewest(lambda n: replace(self, samples=n).chance(drop) >= POWER, formula)
        return max(whole, sees)

    def epochs_needed(self, drop: float) -> int:
        """Return the fewest epochs of both runs that see the drop on as many samples.

        And that say "no worse" where no trial changes.
        """
        drop = max(drop, _LEAST_DROP)
        whole = -(-unchanged_samples_needed(drop) // self.samples)
        formula = math.ceil(samples_for_churn(self.churn + drop, drop) / self.samples)
        sees = fewest(
            lambda k: replace(self, baseline_epochs=k, candidate_epochs=k).chance(drop) >= POWER,
            formula,
        )
        return max(whole, sees)

    def odds(self, drop: float) -> tuple[float, float]:
        """Return how likely a sample regresses, and improves, between single trials of both runs.

        The mean over samples, where every sample passes so much less often in the candidate.
        """
        fallen = _fallen(self._rates(), drop).items()
        regress = math.fsum(count * before * (1 - after) for (before, after), count in fallen)
        improve = math.fsum(count * (1 - before) * after for (before, after), count in fallen)
        return regress / self.samples, improve / self.samples

    def drawn_chance(self, drop: float) -> float:
        """Return the chance of an alarm from drawn runs, for any number of samples."""
        rates = _fallen(self._rates(), drop)
        return chance_of_alarm(rates, self.baseline_epochs, candidate_epochs=self.candidate_epochs)

    def _rates(self) -> dict[float, int]:
        """Return how many samples have each true pass rate: as few as can be are flaky, at 50 %."""
        changing = self.churn * self.samples
        flaky = min(math.floor(2 * changing + _ROUNDING), self.samples)
        rest = max(changing - flaky / 2, 0.0)
        rates = {0.5: flaky, 1.0: self.samples - flaky}
        if rest > _ROUNDING and flaky < self.samples:
            rates |= {(1 + math.sqrt(1 - 2 * rest)) / 2: 1, 1.0: self.samples - flaky - 1}
        return {rate: count for rate, count in rates.items() if count}

    def _formula(self) -> float:
        """Return the smallest drop by the formula of power, itself counted as change.

        d^2 = Z^2 (churn + d) / n, n being the trials of a run.
        """
        least = detectable_from_churn(1.0, math.ceil(self.trials)) ** 2
        found = (least + math.sqrt(least**2 + 4 * least * self.churn)) / 2
        return max(found, LEAST_CHANGED / self.trials)


# Searches ask for the same chances again, and so do metrics and nights that are alike.
@lru_cache(maxsize=4096)
def _chance(runs: RunPair, drop: float) -> float:
    epochs = max(runs.baseline_epochs, runs.candidate_epochs)
    if 1 < epochs <= _MOST_CLUMPING and runs.samples * epochs <= _MOST_DRAWN:
        return runs.drawn_chance(drop)
    regress, improve = runs.odds(drop)
    if runs.trials * (regress + improve) <= _MOST_EXACT:
        return mcnemar_power(round(runs.trials), regress=regress, improve=improve)
    error = math.sqrt((regress + improve) / runs.trials)
    return NormalDist().cdf((regress - improve) / error - _CERTAIN)


def _fallen(rates: Mapping[float, int], drop: float) -> Rates:
    return {(rate, max(rate - drop, 0.0)): count for rate, count in rates.items()}


def _broken(rates: Mapping[float, int], drop: float) -> Rates:
    """Return the rates where samples stop to pass, the best first, and one falls by the rest.

    `drop` is by how much the rates fall together.
    """
    found: dict[tuple[float, float], int] = {}
    for rate, count in sorted(rates.items(), reverse=True):
        whole = min(math.floor(drop / rate + _ROUNDING), count)
        drop = max(drop - whole * rate, 0.0)
        part = 1 if whole < count and drop > _ROUNDING else 0
        found |= {(rate, 0.0): whole, (rate, max(rate - drop, 0.0)): part}
        found[rate, rate] = count - whole - part
        drop *= 1 - part
    return {pair: count for pair, count in found.items() if count}


def _first(is_enough: Callable[[float], bool], near: float, most: float) -> float | None:
    """Return a value that is enough while its half is not, from `near` on; None above `most`."""
    high = near
    while not is_enough(high):
        if high >= most:
            return None
        high = min(2 * high, most)
    while is_enough(high / 2):
        high /= 2
    return high
