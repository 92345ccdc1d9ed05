"""Distributions of sums of independent whole numbers, exact but for what rounding leaves."""

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NEGLIGIBLE = 1e-40
"""The probability that may be cut from an end of a distribution; no p value shows it."""

_MOST_PRODUCTS = 30_000_000
"""Larger convolutions are made by Fourier transform."""

_FOURIER_NOISE = 1e-17
"""How large a chance may be that is but the transform's rounding."""


@dataclass(frozen=True, slots=True)
class Lattice:
    """How likely each whole number is: `chances[i]` that of `first + i`."""

    first: int
    chances: "NDArray[np.float64]"

    def at_most(self, value: int) -> float:
        """Return the chance of a number <= value, in 0..1."""
        return min(float(self.chances[: max(value - self.first + 1, 0)].sum()), 1.0)

    def at_least(self, value: int) -> float:
        """Return the chance of a number >= value, in 0..1."""
        return min(float(self.chances[max(value - self.first, 0) :].sum()), 1.0)

    def exactly(self, value: int) -> float:
        """Return the chance of a number."""
        place = value - self.first
        return float(self.chances[place]) if 0 <= place < len(self.chances) else 0.0


def lattice(first: int, chances: Sequence[float]) -> Lattice:
    """Return the distribution that gives `first + i` the chance `chances[i]`."""
    # numpy takes a noticeable part of a second to load; only comparisons need it.
    import numpy as np  # noqa: PLC0415

    return Lattice(first, np.asarray(chances, dtype=np.float64))


def sum_of(parts: Iterable[tuple[Lattice, int]]) -> Lattice:
    """Return the distribution of a sum: of each part so many independent copies.

    By convolution, small ones first, so that a hundred thousand parts of few kinds take part of a
    second. Every chance is a sum of products, and keeps its relative accuracy far out; of each end
    less than 1e-40 is cut. Only sums that spread over many thousand numbers are made by Fourier
    transform, where chances below 1e-17 are lost.
    """
    # The counter keeps the heap from comparing distributions of one length.
    heap = [(len(one.chances), n, one) for n, one in enumerate(_powers(parts))]
    heapq.heapify(heap)
    made = len(heap)
    while len(heap) > 1:
        _, _, left = heapq.heappop(heap)
        _, _, right = heapq.heappop(heap)
        both = _added(left, right)
        made += 1
        heapq.heappush(heap, (len(both.chances), made, both))
    return heap[0][2] if heap else lattice(0, [1.0])


def coin_flips(size: int, count: int) -> Lattice:
    """Return the distribution of the sum of `count` numbers that are each +size or -size."""
    import numpy as np  # noqa: PLC0415 - see lattice()
    from scipy.special import gammaln  # noqa: PLC0415 - it loads slowly

    ups = np.arange(count + 1)
    logs = gammaln(count + 1) - gammaln(ups + 1) - gammaln(count - ups + 1)
    chances = np.exp(logs - count * math.log(2))
    spread = np.zeros(2 * size * count + 1)
    spread[:: 2 * size] = chances / chances.sum()
    return _cut(Lattice(-size * count, spread))


def _powers(parts: Iterable[tuple[Lattice, int]]) -> Iterable[Lattice]:
    for one, count in parts:
        if count > 0:
            yield _power(one, count)


def _power(one: Lattice, count: int) -> Lattice:
    """Return the sum of `count` copies, by squaring."""
    if count == 1:
        return one
    half = _power(one, count // 2)
    doubled = _added(half, half)
    return _added(doubled, one) if count % 2 else doubled


def _added(left: Lattice, right: Lattice) -> Lattice:
    import numpy as np  # noqa: PLC0415 - see lattice()

    first = left.first + right.first
    if len(left.chances) * len(right.chances) <= _MOST_PRODUCTS:
        return _cut(Lattice(first, np.convolve(left.chances, right.chances)))
    cells = len(left.chances) + len(right.chances) - 1
    size = 1 << (cells - 1).bit_length()
    both = np.fft.rfft(left.chances, size) * np.fft.rfft(right.chances, size)
    chances = np.fft.irfft(both, size)[:cells]
    return _cut(Lattice(first, np.maximum(chances, 0.0)), _FOURIER_NOISE)


def _cut(whole: Lattice, below: float = 0.0) -> Lattice:
    """Leave out what lies so far out that no p value shows it, or is below a chance."""
    import numpy as np  # noqa: PLC0415 - see lattice()

    shown = np.flatnonzero(whole.chances >= max(below, _NEGLIGIBLE / len(whole.chances)))
    start, end = int(shown[0]), int(shown[-1]) + 1
    return Lattice(whole.first + start, whole.chances[start:end])
