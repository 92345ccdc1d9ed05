"""What a comparison can see, and how many samples or epochs it takes: for 80 % power, alpha 5 %.

Unless told otherwise the tests are one-sided. Differences and margins are fractions, or in the
metric's unit.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

from harness.measuring.binomials import binomial
from harness.measuring.paired_differences import Moves
from harness.measuring.paired_intervals import tango_score
from harness.measuring.paired_tests import mcnemar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ALPHA = 0.05
POWER = 0.8
LEAST_CHANGED = 5
"""The fewest regressions that can alarm at alpha 5 %, where none improved: 1/2^5 < 0.05."""

_CERTAIN = NormalDist().inv_cdf(1 - ALPHA)
_Z = _CERTAIN + NormalDist().inv_cdf(POWER)
_TWO_SIDED_Z = NormalDist().inv_cdf(1 - ALPHA / 2) + NormalDist().inv_cdf(POWER)
_ROUNDING = 1e-9
_MANY = 1000
_BOTH_COUNTS = 1e-12


def detectable_from_churn(churn: float, pairs: int) -> float:
    """Return the smallest drop seen, one trial a side: Z * sqrt(churn / n), at least 5 / n.

    `churn` (0..1) is the share of pairs that change.
    """
    return max(_Z * math.sqrt(churn / pairs), LEAST_CHANGED / pairs)


def samples_for_churn(churn: float, margin: float) -> int:
    """Return the samples that see a drop of a margin, one trial a side: Z^2 * churn / margin^2.

    At least as many as must stay unchanged for "no worse".
    """
    return max(_ceiling(_Z**2 * churn / margin**2), unchanged_samples_needed(margin))


def unchanged_samples_needed(margin: float) -> int:
    """Return the samples without a change that say "no worse": z^2 * (1 - margin) / margin."""
    return max(_ceiling(_CERTAIN**2 * (1 - margin) / margin), 1)


def detectable_from_error(error: float, floor: float = 0.0) -> float:
    """Return the smallest drop seen with a standard error of D: Z * error, at least the floor.

    On a fixed suite the error is sqrt(sum of v_A / K_A + v_B / K_B) / n; for scores sd(d) /
    sqrt(n).
    """
    return max(_Z * error, floor)


def planned_error(rates: Sequence[float], epochs: int) -> float:
    """Return the standard error of D that two runs of so many epochs will have on these samples.

    sqrt(sum of 2p(1 - p) / K) / n, p being the samples' true pass rates, of which there is at least
    one. Only noise between runs counts, as on a fixed suite.
    """
    noise = math.fsum(2 * p * (1 - p) for p in rates) / epochs
    return math.sqrt(noise) / len(rates)


def expected_churn(rates: Sequence[float]) -> float:
    """Return the share of samples that change between two runs with nothing changed: mean 2p(1-p).

    For one epoch; `rates` are the samples' true pass rates, of which there is at least one.
    """
    return math.fsum(2 * p * (1 - p) for p in rates) / len(rates)


def times_as_much(detectable: float, margin: float, amount: int) -> int:
    """Return how many of what there is `amount` of see a drop of a margin.

    Samples, or epochs on a fixed suite: ceil(amount * (detectable / margin)^2).
    """
    return _ceiling(amount * (detectable / margin) ** 2)


def detectable_by_t(deviation: float, samples: int) -> float:
    """Return the smallest drop that the one-sided t test over two or more samples sees.

    `deviation` is that of the samples' differences. Exact for normal differences; for many samples
    it is `detectable_from_error`, which promises too much of few.
    """
    if samples > _MANY or not deviation:
        return detectable_from_error(deviation / math.sqrt(samples))
    from scipy.special import nctdtrinc, stdtrit  # noqa: PLC0415 - it loads slowly

    alarms = float(stdtrit(samples - 1, 1 - ALPHA))
    return float(nctdtrinc(samples - 1, 1 - POWER, alarms)) * deviation / math.sqrt(samples)


def samples_by_t(deviation: float, margin: float) -> int:
    """Return the samples with which the one-sided t test over them sees a drop of a margin."""
    near = _ceiling((_Z * deviation / margin) ** 2)
    return near if near > _MANY else fewest(lambda n: _sees_by_t(deviation, n, margin), near)


def _sees_by_t(deviation: float, samples: int, margin: float) -> bool:
    return samples > 1 and detectable_by_t(deviation, samples) <= margin


def fewest(is_enough: Callable[[int], bool], near: int) -> int:
    """Return the smallest number >= 1 that is enough, looked for by halves around `near`."""
    high = max(near, 1)
    while not is_enough(high):
        high *= 2
    low = high // 2
    while low and is_enough(low):
        low, high = low // 2, low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialNoise:
    """What varies on a population of samples.

    `between` is the variance of the samples' true differences, `within_*` the mean variance of the
    trials of one sample, over so many epochs.
    """

    between: float
    within_baseline: float = 0.0
    within_candidate: float = 0.0
    baseline_epochs: int = 1
    candidate_epochs: int = 1

    @property
    def of_one_sample(self) -> float:
        """Return the variance of one sample's difference of means."""
        return (
            self.between
            + self.within_baseline / self.baseline_epochs
            + self.within_candidate / self.candidate_epochs
        )


def population_samples(noise: TrialNoise, difference: float) -> int:
    """Return the samples that see a difference of two populations, two-sided.

    (z(.975) + z(.8))^2 * variance of one sample's difference / difference^2. Source: Miller
    (2024), arXiv 2411.00640.
    """
    return _ceiling(_TWO_SIDED_Z**2 * noise.of_one_sample / difference**2)


def population_detectable(noise: TrialNoise, samples: int) -> float:
    """Return the smallest difference of two populations seen, two-sided."""
    return _TWO_SIDED_Z * math.sqrt(noise.of_one_sample / samples)


def mcnemar_power(pairs: int, *, regress: float, improve: float, alpha: float = ALPHA) -> float:
    """Return the chance that the exact McNemar test alarms, one trial a side; exact itself.

    `regress` and `improve` are the chances (0..1) that a sample does. The formulas above promise
    more where few samples change.
    """
    import numpy as np  # noqa: PLC0415 - it loads slowly
    from scipy.special import bdtrc  # noqa: PLC0415 - it loads slowly

    if regress == 0:
        return 0.0
    churn = min(regress + improve, 1.0)
    changed = binomial(pairs, churn)
    counts = changed.first + np.arange(len(changed.chances))
    needed = _least_regressions(counts, alpha)
    seen = needed <= counts
    powers = bdtrc(needed[seen] - 1, counts[seen], regress / churn)
    return min(float(changed.chances[seen] @ powers), 1.0)


def least_regressions(changed: int, alpha: float = ALPHA) -> int | None:
    """Return how many of the changed samples must regress for an alarm; None where none do."""
    import numpy as np  # noqa: PLC0415 - it loads slowly

    found = int(_least_regressions(np.array([changed]), alpha)[0])
    return found if found <= changed else None


def _least_regressions(changed: "NDArray[np.int64]", alpha: float) -> "NDArray[np.int64]":
    """Return it for several numbers of changed samples; one more than there are where none do."""
    import numpy as np  # noqa: PLC0415 - it loads slowly
    from scipy.special import bdtrc  # noqa: PLC0415 - it loads slowly

    low, high = changed // 2, changed + 1
    while (low < high).any():
        middle = (low + high) // 2
        tails = np.where(middle > 0, bdtrc(np.maximum(middle - 1, 0), changed, 0.5), 1.0)
        enough = tails <= alpha + _ROUNDING
        low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
        low = np.minimum(low, high)
    return low


@dataclass(frozen=True, slots=True)
class VerdictChances:
    """How likely each verdict on one metric is, in 0..1."""

    regressed: float
    improved: float
    no_worse: float
    inconclusive: float


def verdict_chances(
    pairs: int, *, margin: float, drop: float, improve: float = 0.03
) -> VerdictChances:
    """Return how likely each verdict is for one trial a side, exactly.

    `improve` is the chance that a sample improves, `improve + drop` that it regresses.
    """
    words = ("regressed", "improved", "no_worse", "inconclusive")
    found: dict[str, list[float]] = {word: [] for word in words}
    falling = binomial(pairs, improve + drop)
    for place, chance in enumerate(falling.chances):
        r = falling.first + place
        rising = binomial(pairs - r, improve / (1 - improve - drop))
        for above, other in enumerate(rising.chances):
            both = float(chance) * float(other)
            if both > _BOTH_COUNTS:
                moves = Moves(r, rising.first + above, pairs - r - rising.first - above)
                found[_verdict(moves, margin)].append(both)
    return VerdictChances(**{word: math.fsum(each) for word, each in found.items()})


def _verdict(moves: Moves, margin: float) -> str:
    p = mcnemar(moves.regressed, moves.improved)
    if p.regress <= ALPHA + _ROUNDING:
        return "regressed"
    if p.improve <= ALPHA + _ROUNDING:
        return "improved"
    return "no_worse" if tango_score(-margin, moves) > _CERTAIN else "inconclusive"


def _ceiling(value: float) -> int:
    """Round up, but for what rounding added."""
    return math.ceil(value - _ROUNDING)
