"""What a comparison of two runs will see, before either is made: power of its verdicts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from harness.measuring.drawn_runs import MOST_EPOCHS, Rates, chance_of_alarm
from harness.measuring.flakiness import disagreement
from harness.measuring.power import (
    ALPHA,
    LEAST_CHANGED,
    POWER,
    detectable_from_churn,
    detectable_from_error,
    exact_detectable,
    mcnemar_power,
    samples_for_churn,
    times_as_much,
    unchanged_samples_needed,
    verdict_chances,
)
from harness.types.suite_plans import Chances, ChurnSource, Sight

EXACT_UP_TO = 200
"""With more samples the formula promises no more than it keeps."""

_CERTAIN = NormalDist().inv_cdf(1 - ALPHA)
_MOST_CHANGE = 1.0
_EXACTLY_SOUGHT = 10_000
_ROUNDING = 1e-9
_STEPS = 1000


def sight(
    samples: int, epochs: int, *, churn: float, detect: float, source: ChurnSource = "assumed"
) -> Sight:
    """Return what two runs of so many samples and epochs see of a drop of `detect`.

    `churn` (0..1) is the share of samples that change between two runs of one epoch with nothing
    changed, half of them up and half down. One epoch of up to 200 samples is computed exactly,
    several epochs by drawing runs.
    """
    suite = _Suite(samples, epochs, churn)
    is_exact = epochs == 1 and samples <= EXACT_UP_TO
    chance = suite.chance(detect)
    is_enough = chance >= POWER
    return Sight(
        churn=churn,
        source=source,
        detectable=suite.detectable(),
        chance=chance,
        chance_if_whole=suite.chance_if_whole(detect),
        # The formulas are not the tests, and may find enough what the tests do not.
        samples_needed=max(_samples_needed(epochs, churn, detect), 0 if is_enough else samples + 1),
        epochs_needed=max(
            _epochs_needed(samples, churn, detect, is_enough=is_enough and epochs == 1),
            0 if is_enough else epochs + 1,
        ),
        verdicts=_verdicts(samples, churn, detect) if is_exact else (),
    )


@dataclass(frozen=True, slots=True)
class _Suite:
    samples: int
    epochs: int
    churn: float

    def chance(self, drop: float) -> float:
        """Return the chance that a drop alarms by which every sample passes as much less often.

        Exact for one epoch, by drawn runs for several, and by the normal distribution for many.
        """
        if self.epochs == 1:
            improve = self.churn / 2
            regress = min(improve + drop, _MOST_CHANGE - improve)
            return mcnemar_power(self.samples, regress=regress, improve=improve)
        if self.epochs <= MOST_EPOCHS:
            return chance_of_alarm(_fallen(self._rates(), drop), self.epochs)
        if drop * self.samples * self.epochs < LEAST_CHANGED:
            return 0.0
        error = math.sqrt((self.churn + drop) / self.epochs / self.samples)
        return NormalDist().cdf(drop / error - _CERTAIN)

    def chance_if_whole(self, drop: float) -> float:
        """Return it where as few samples as can be, which always passed, never do."""
        rates = _broken(self._rates(), drop * self.samples)
        return chance_of_alarm(rates, min(self.epochs, MOST_EPOCHS))

    def _rates(self) -> dict[float, int]:
        """Return how many samples have each true pass rate: as few as can be are flaky, at 50 %."""
        changing = self.churn * self.samples
        flaky = min(math.floor(2 * changing + _ROUNDING), self.samples)
        rest = max(changing - flaky / 2, 0.0)
        rates = {0.5: flaky, 1.0: self.samples - flaky}
        if rest > _ROUNDING and flaky < self.samples:
            rates |= {(1 + math.sqrt(1 - 2 * rest)) / 2: 1, 1.0: self.samples - flaky - 1}
        return {rate: count for rate, count in rates.items() if count}

    def detectable(self) -> float | None:
        """Return the smallest drop of every sample that is seen in four cases of five, if any."""
        if self.epochs == 1 and self.samples <= EXACT_UP_TO:
            return exact_detectable(self.samples, improve=self.churn / 2)
        if self.samples > EXACT_UP_TO or self.epochs > MOST_EPOCHS:
            return _possible(self._formula())
        return self._drawn_detectable()

    def _formula(self) -> float:
        """Return it by the formula of power, the drop itself counted as change: Z^2(churn + d)/n.

        That is d^2, n being the trials of a run.
        """
        trials = self.samples * self.epochs
        least = detectable_from_churn(1.0, trials) ** 2
        return max(
            (least + math.sqrt(least**2 + 4 * least * self.churn)) / 2, LEAST_CHANGED / trials
        )

    def _drawn_detectable(self) -> float | None:
        """Return it to a tenth of a point, by halves, sought first near where the formula says."""
        high = near = min(max(math.floor(self._formula() * _STEPS), 1), _STEPS)
        while high < _STEPS and self.chance(high / _STEPS) < POWER:
            high = min(2 * high, _STEPS)
        if self.chance(high / _STEPS) < POWER:
            return None
        low = high // 2 if high > near else 0
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.chance(middle / _STEPS) >= POWER else (middle, high)
        return high / _STEPS


def _possible(drop: float) -> float | None:
    return None if drop > 1 else drop


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


def _samples_needed(epochs: int, churn: float, detect: float) -> int:
    """Return the samples that see the drop, with as many epochs, and say "no worse" without it.

    For one epoch exactly, the drop being itself a change; else, and beyond ten thousand samples,
    by the formula.
    """
    trials = max(unchanged_samples_needed(detect), math.ceil(LEAST_CHANGED / detect - _ROUNDING))
    formula = samples_for_churn((churn + detect) / epochs, detect)
    if epochs == 1 and formula <= _EXACTLY_SOUGHT:
        formula = _exact_samples(churn, detect, 2 * formula)
    return max(formula, -(-trials // epochs))


def _exact_samples(churn: float, detect: float, most: int) -> int:
    """Return the fewest samples that see the drop in four cases of five, looked for by halves."""
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        enough = _Suite(middle, 1, churn).chance(detect) >= POWER
        low, high = (low, middle) if enough else (middle + 1, high)
    return low


def _epochs_needed(samples: int, churn: float, detect: float, *, is_enough: bool) -> int:
    """Return the epochs that see the drop on these samples, by the formula of a fixed suite.

    `is_enough` says that one does, by the exact test.
    """
    if is_enough:
        return 1
    floor = math.ceil(LEAST_CHANGED / (detect * samples) - _ROUNDING)
    whole = -(-unchanged_samples_needed(detect) // samples)
    error = math.sqrt((churn + detect) / samples)
    return max(times_as_much(detectable_from_error(error), detect, 1), floor, whole, 2)


def _verdicts(samples: int, churn: float, detect: float) -> tuple[Chances, ...]:
    improve = churn / 2
    drops = [drop for drop in (0.0, detect, 2 * detect) if 2 * improve + drop < _MOST_CHANGE]
    found = [
        (drop, verdict_chances(samples, margin=detect, drop=drop, improve=improve))
        for drop in drops
    ]
    return tuple(
        Chances(
            drop=drop,
            regressed=of.regressed,
            improved=of.improved,
            no_worse=of.no_worse,
            inconclusive=of.inconclusive,
        )
        for drop, of in found
    )


def churn_of(samples: Sequence[tuple[int, int]]) -> tuple[float, ChurnSource] | None:
    """Return how many samples change with nothing changed, from (passes, trials) of each.

    Where samples have two trials or more it is the mean of 2c(K - c) / (K(K - 1)) over those,
    which has no bias. Where none has, it is at most 2p(1 - p), p being the pass rate: as if all
    samples were equally hard. None for no trial.
    """
    repeated = [disagreement(c, k) for c, k in samples if k > 1]
    if repeated:
        return math.fsum(repeated) / len(repeated), "measured"
    ran = [(c, k) for c, k in samples if k]
    if not ran:
        return None
    rate = sum(c for c, _ in ran) / len(ran)
    return 2 * rate * (1 - rate), "at_most"
