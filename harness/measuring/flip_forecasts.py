"""How many samples do worse from one night to the next although nothing changed."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from harness.measuring.binomials import binomial, poisson_binomial
from harness.measuring.flakiness import FEWEST_EARLIER_TRIALS, mean_of
from harness.measuring.lattice_sums import Lattice


class TwoNights(NamedTuple):
    """One sample on two nights, (passes, trials) each, and what all nights say of its rate."""

    before: tuple[int, int]
    tonight: tuple[int, int]
    passes: int
    trials: int


@dataclass(frozen=True, slots=True)
class FlipForecast:
    """How many of `samples` did worse than the night before, and how many do with nothing changed.

    `chance` is how likely so many or more are, in 0..1.
    """

    samples: int
    fell: int
    expected: float
    chance: float


def flip_forecast(samples: Sequence[TwoNights]) -> FlipForecast | None:
    """Hold the samples that did worse than the night before against how many do by chance.

    A sample does worse where its mean over epochs falls; with its rate p and as many trials as it
    had, that has a chance, p (1 - p) for one trial a night. The number of such samples is
    Poisson-binomial. Samples with fewer than 5 trials are left out; None where none is left.
    """
    known = [
        one
        for one in samples
        if one.trials >= FEWEST_EARLIER_TRIALS and one.before[1] and one.tonight[1]
    ]
    if not known:
        return None
    fell = sum(_fell(one) for one in known)
    chances = Counter(
        chance_of_worse(one.passes / one.trials, one.before[1], one.tonight[1]) for one in known
    )
    spread = poisson_binomial(chances)
    return FlipForecast(len(known), fell, mean_of(spread), spread.at_least(fell))


def _fell(one: TwoNights) -> bool:
    return one.tonight[0] * one.before[1] < one.before[0] * one.tonight[1]


@lru_cache(maxsize=4096)
def chance_of_worse(rate: float, before: int, tonight: int) -> float:
    """Return the chance that the mean of `tonight` trials is below that of `before` trials.

    All of them pass with the chance `rate` in 0..1.
    """
    if rate in {0.0, 1.0}:
        return 0.0
    first, second = binomial(before, rate), binomial(tonight, rate)
    below = [0.0, *accumulate(map(float, second.chances))]
    return min(
        sum(
            float(chance) * below[_count_below((first.first + place) * tonight, before, second)]
            for place, chance in enumerate(first.chances)
        ),
        1.0,
    )


def _count_below(scaled: int, before: int, second: Lattice) -> int:
    """Return how many numbers of the second night lie below scaled / before."""
    return min(max(-(-scaled // before) - second.first, 0), len(second.chances))
