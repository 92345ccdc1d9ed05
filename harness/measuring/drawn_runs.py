"""How often two runs are called REGRESSED, by runs drawn from known pass rates."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.measuring.power import ALPHA

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Rates = Mapping[tuple[float, float], int]
"""How many samples have these true pass rates in baseline and candidate."""

_DRAWS = 1000
MOST_EPOCHS = 50
"""More of them make the tables of the draws too large."""

_WIDEST = 4000
"""Where sums of passes spread wider, the normal distribution stands for the exact one."""

_SEED = 1
_ROUNDING = 1e-9


def chance_of_alarm(rates: Rates, epochs: int, *, candidate_epochs: int | None = None) -> float:
    """Return how often the stratified exact test calls the candidate REGRESSED, in 0..1.

    `epochs` are 1 to 50; the candidate has as many, if it is not said otherwise. From a thousand
    pairs of runs, always the same ones, to some 3 points; never 0 or 1 where chance decides. Each
    p value is exact.
    """
    import numpy as np  # noqa: PLC0415 - it loads slowly

    both = (epochs, candidate_epochs or epochs)
    rng = np.random.default_rng(_SEED)
    kinds = np.zeros((_DRAWS, sum(both) + 1), dtype=np.int64)
    found = _Draws(both, kinds, np.zeros(_DRAWS, dtype=np.int64))
    for rate_pair, count in rates.items():
        one, other = (_binomial(of, rate) for of, rate in zip(both, rate_pair, strict=True))
        drawn = rng.multinomial(count, np.outer(one, other).ravel(), _DRAWS)
        found.add(drawn.reshape(_DRAWS, len(one), len(other)))
    share = float((found.p_regress() <= ALPHA + _ROUNDING).mean())
    if all(rate in {0.0, 1.0} for pair in rates for rate in pair):
        return share
    return min(max(share, 0.5 / _DRAWS), 1 - 0.5 / _DRAWS)


def _binomial(epochs: int, rate: float) -> "NDArray[np.float64]":
    import numpy as np  # noqa: PLC0415 - it loads slowly

    every = range(epochs + 1)
    chances = np.array([math.comb(epochs, k) * rate**k * (1 - rate) ** (epochs - k) for k in every])
    found: NDArray[np.float64] = chances / chances.sum()
    return found


@dataclass(frozen=True, slots=True)
class _Draws:
    """Pairs of runs: in each how many samples have so many passes in both, and the candidate's."""

    epochs: tuple[int, int]
    samples: "NDArray[np.int64]"
    passes: "NDArray[np.int64]"

    def add(self, drawn: "NDArray[np.int64]") -> None:
        """Take samples by their passes in the baseline and in the candidate."""
        _, befores, afters = drawn.shape
        for before in range(befores):
            self.samples[:, before : before + afters] += drawn[:, before, :]
        for after in range(afters):
            self.passes[:] += after * drawn[:, :, after].sum(axis=1)

    def p_regress(self) -> "NDArray[np.float64]":
        """Return the chance of so few passes of the candidate in each pair, had nothing changed."""
        import numpy as np  # noqa: PLC0415 - it loads slowly

        before, after = self.epochs
        both = np.arange(before + after + 1)
        fewest = np.maximum(both - before, 0)
        above = self.passes - self.samples @ fewest
        widest = int((self.samples @ (np.minimum(both, after) - fewest)).max())
        return self._exact(above, widest) if widest <= _WIDEST else self._normal()

    def _exact(self, above: "NDArray[np.int64]", widest: int) -> "NDArray[np.float64]":
        """Return it from the whole distribution of the sum, which is a product of transforms."""
        import numpy as np  # noqa: PLC0415 - it loads slowly

        size = 1 << widest.bit_length()  # a power of two is transformed fastest
        transforms = np.fft.rfft(_splits(*self.epochs), n=size, axis=1)
        logs = np.log(np.where(transforms == 0, 1e-300, transforms))
        whole = np.fft.irfft(np.exp(self.samples @ logs), n=size, axis=1)
        return np.take_along_axis(np.cumsum(whole, axis=1), above[:, None], axis=1)[:, 0]

    def _normal(self) -> "NDArray[np.float64]":
        import numpy as np  # noqa: PLC0415 - it loads slowly
        from scipy.special import ndtr  # noqa: PLC0415 - it loads slowly

        before, after = self.epochs
        trials = before + after
        both = np.arange(trials + 1)
        centre = self.samples @ (both * after / trials)
        of_one = both * (trials - both) * before * after / (trials**2 * (trials - 1))
        found: NDArray[np.float64] = ndtr(
            (self.passes + 0.5 - centre) / np.sqrt(self.samples @ of_one)
        )
        return found


def _splits(before: int, after: int) -> "NDArray[np.float64]":
    """Return how likely each number of a sample's passes is the candidate's, had nothing changed.

    By its passes in both runs; counted from the fewest that can be. Hypergeometric.
    """
    import numpy as np  # noqa: PLC0415 - it loads slowly

    found = np.zeros((before + after + 1, after + 1))
    for both in range(before + after + 1):
        fewest = max(both - before, 0)
        for of in range(fewest, min(both, after) + 1):
            ways = math.comb(after, of) * math.comb(before, both - of)
            found[both, of - fewest] = ways / math.comb(before + after, both)
    return found
