"""Since when: the night after which a sample's pass rate changed."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.measuring.flakiness import log_beta

SHOWN_ABOVE = 10.0
"""The evidence above which a change is shown; a convention, not theory."""


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """The evidence that a pass rate changed once, and where it most likely did.

    `bayes_factor` is how many times likelier the nights are with one change than with none;
    `nights_before` how many nights lie before the first one after it, `fell` whether the rate was
    higher before.
    """

    bayes_factor: float
    nights_before: int
    fell: bool

    @property
    def is_shown(self) -> bool:
        """Say whether the evidence is strong enough to be shown."""
        return self.bayes_factor > SHOWN_ABOVE


class Split(NamedTuple):
    """A change between two nights: how much likelier it makes them, as a logarithm.

    `nights_before` lie before the first one after it; `fell` says the rate was higher before.
    """

    log_factor: float
    nights_before: int
    fell: bool


def alike_sums(samples: Sequence[Sequence[tuple[int, int]]]) -> list[tuple[float, float]]:
    """Return the (passes, failures) of all samples night by night, as if the same ran on each.

    Each sample is (passes, failures) a night, (0, 0) where it did not run. A night on which hard
    samples are missing passes more often, though nothing has changed; so to as many trials as ran
    at the rate of all nights is added what passed beyond the samples' own rates. Where the same
    trials ran on every night these are their plain sums.
    """
    rates = [_rate(sum(p for p, _ in one), sum(map(sum, one))) for one in samples]
    nights = list(zip(*samples, strict=True))
    trials = [sum(map(sum, night)) for night in nights]
    whole = _rate(sum(p for night in nights for p, _ in night), sum(trials))
    found: list[tuple[float, float]] = []
    for night, count in zip(nights, trials, strict=True):
        beyond = math.fsum(p - rate * (p + f) for (p, f), rate in zip(night, rates, strict=True))
        passes = min(max(count * whole + beyond, 0.0), float(count))
        found.append((passes, count - passes))
    return found


def _rate(passes: int, trials: int) -> float:
    return passes / trials if trials else 0.0


def splits(nights: Sequence[tuple[float, float]]) -> list[Split]:
    """Return every possible change of pass rate over nights, oldest first, each (passes, failures).

    The factor is B(s1 + 1/2, f1 + 1/2) * B(s2 + 1/2, f2 + 1/2) / (B(1/2, 1/2) * B(s + 1/2, f +
    1/2)), s passes and f failures on each side. No change begins with a night without a trial.
    """
    passes, failures = (sum(night[side] for night in nights) for side in (0, 1))
    whole = _log_evidence(passes, failures)
    found: list[Split] = []
    s = f = 0.0
    for place, night in enumerate(nights[:-1], start=1):
        s, f = s + night[0], f + night[1]
        later = (passes - s, failures - f)
        if not sum(nights[place]) or not s + f:
            continue
        score = _log_evidence(s, f) + _log_evidence(*later) - whole
        found.append(Split(score, place, s * sum(later) > later[0] * (s + f)))
    return found


def change_point(nights: Sequence[tuple[float, float]]) -> ChangePoint | None:
    """Look for one change of pass rate over nights, oldest first, each as (passes, failures).

    The Bayes factor is the mean of the factors of all splits. Nights without a trial are counted,
    and no change begins with one; None for fewer than two with one.
    """
    scores = splits(nights)
    if not scores:
        return None
    best = max(scores, key=lambda one: (one.log_factor, one.nights_before))
    top = best.log_factor
    mean = math.fsum(math.exp(one.log_factor - top) for one in scores) / len(scores)
    return ChangePoint(_exponential(top + math.log(mean)), best.nights_before, best.fell)


def _log_evidence(passes: float, failures: float) -> float:
    """Return how likely such trials are, the pass rate being anything under Jeffreys' prior."""
    return log_beta(passes + 0.5, failures + 0.5) - log_beta(0.5, 0.5)


def _exponential(value: float) -> float:
    return math.exp(value) if value < math.log(sys.float_info.max) else math.inf
