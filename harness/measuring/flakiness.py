"""Flaky, regressed or fixed: one sample's trials tonight against those of earlier nights."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.measuring.beta_intervals import jeffreys
from harness.measuring.binomials import poisson_binomial
from harness.measuring.lattice_sums import Lattice
from harness.measuring.multiplicity import benjamini_hochberg
from harness.system.numbers import reaches
from harness.types.sample_states import SampleStanding, SampleState

FEWEST_EARLIER_TRIALS = 5
"""With fewer earlier trials a sample is new."""

ALPHA = 0.05
_MIXED = (0.05, 0.95)
_LIKELY_MIXED = 0.5


@dataclass(frozen=True, slots=True)
class SampleNights:
    """One sample's trials under one hash: `passes` of `trials` on earlier nights, and tonight."""

    sample_id: str
    passes: int
    trials: int
    passes_tonight: int
    trials_tonight: int


def chance_of_so_few(night: SampleNights) -> float:
    """Return P(X <= passes tonight), X ~ BetaBinomial(K, c + 1/2, h - c + 1/2).

    c of h trials passed before; the half is Jeffreys' prior. 1 where none ran tonight.
    """
    return _chance(night, range(night.passes_tonight + 1))


def chance_of_so_many(night: SampleNights) -> float:
    """Return P(X >= passes tonight) under the same distribution."""
    return _chance(night, range(night.passes_tonight, night.trials_tonight + 1))


def disagreement(passes: int, trials: int) -> float:
    """Return the chance that two runs of one configuration disagree: 2c(K - c) / (K(K - 1)).

    For at least two trials; in 0..1, without bias.
    """
    return 2 * passes * (trials - passes) / (trials * (trials - 1))


def chance_of_mixed(
    passes: int, trials: int, *, low: float = _MIXED[0], high: float = _MIXED[1]
) -> float:
    """Return P(low < true pass rate < high) under Beta(c + 1/2, n - c + 1/2)."""
    from scipy.special import betainc  # noqa: PLC0415 - it loads slowly

    a, b = passes + 0.5, trials - passes + 0.5
    return float(betainc(a, b, high) - betainc(a, b, low))


def standings(nights: Sequence[SampleNights]) -> list[SampleStanding]:
    """Say of every sample how it stands, in the order given.

    Regressed is one whose Benjamini-Hochberg adjusted chance of so few passes is <= 0.05 over all
    samples with at least 5 earlier trials, fixed one with so many; flaky one with both outcomes
    and a true rate likelier than not inside 5 to 95 %; new one with fewer earlier trials. Any
    other is stable, by the more frequent outcome. A sample of fewer epochs tonight than planned
    is judged by those that ran.
    """
    judged = [n.trials >= FEWEST_EARLIER_TRIALS and n.trials_tonight > 0 for n in nights]
    few, many = ([side(night) for night in nights] for side in _SIDES)
    adjusted_few, adjusted_many = (_adjusted(chances, judged) for chances in (few, many))
    return [
        _standing(night, (few[i], many[i]), (adjusted_few[i], adjusted_many[i]))
        for i, night in enumerate(nights)
    ]


def expected_flips(rates: Iterable[float], *, both_ways: bool) -> Lattice:
    """Return how many samples change between two runs of one trial each, with nothing changed.

    `rates` are the samples' true pass rates. A sample regresses with the chance p(1 - p); counted
    `both_ways` it changes with twice that.
    """
    factor = 2 if both_ways else 1
    return poisson_binomial(Counter(factor * p * (1 - p) for p in rates))


def mean_of(distribution: Lattice) -> float:
    """Return the mean of a distribution."""
    return math.fsum(
        (distribution.first + place) * float(chance)
        for place, chance in enumerate(distribution.chances)
    )


_SIDES = (chance_of_so_few, chance_of_so_many)


def _chance(night: SampleNights, passes: range) -> float:
    a, b = night.passes + 0.5, night.trials - night.passes + 0.5
    whole = night.trials_tonight
    logs = (
        math.lgamma(whole + 1)
        - math.lgamma(x + 1)
        - math.lgamma(whole - x + 1)
        + log_beta(x + a, whole - x + b)
        - log_beta(a, b)
        for x in passes
    )
    return min(math.fsum(map(math.exp, logs)), 1.0)


def log_beta(a: float, b: float) -> float:
    """Return the logarithm of the beta function, for positive a and b."""
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _adjusted(chances: Sequence[float], judged: Sequence[bool]) -> list[float]:
    """Adjust the chances of the samples that are judged; the others get 1."""
    adjusted = iter(
        benjamini_hochberg([p for p, is_one in zip(chances, judged, strict=True) if is_one])
    )
    return [next(adjusted) if is_one else 1.0 for is_one in judged]


def _standing(
    night: SampleNights, chances: tuple[float, float], adjusted: tuple[float, float]
) -> SampleStanding:
    passes = night.passes + night.passes_tonight
    trials = night.trials + night.trials_tonight
    low, high = jeffreys(passes, trials)
    mixed = chance_of_mixed(passes, trials)
    return SampleStanding(
        sample_id=night.sample_id,
        state=_state(night, adjusted, mixed),
        passes=night.passes,
        trials=night.trials,
        passes_tonight=night.passes_tonight,
        trials_tonight=night.trials_tonight,
        p_fewer=chances[0],
        p_more=chances[1],
        adjusted_p_fewer=adjusted[0],
        adjusted_p_more=adjusted[1],
        disagreement=disagreement(passes, trials) if trials > 1 else None,
        low=low,
        high=high,
        mixed=mixed,
    )


def _state(night: SampleNights, adjusted: tuple[float, float], mixed: float) -> SampleState:
    if night.trials < FEWEST_EARLIER_TRIALS:
        return "new"
    if reaches(ALPHA, adjusted[0]):
        return "regressed"
    if reaches(ALPHA, adjusted[1]):
        return "fixed"
    passes = night.passes + night.passes_tonight
    failures = night.trials + night.trials_tonight - passes
    if passes and failures and mixed > _LIKELY_MIXED:
        return "flaky"
    return "stable_pass" if passes >= failures else "stable_fail"
