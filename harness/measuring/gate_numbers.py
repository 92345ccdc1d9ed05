"""The numbers that gates are about; what could not be graded counts as a gate's worst."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harness.measuring.firm_means import firm_mean
from harness.measuring.intervals import mean, quantile
from harness.measuring.pass_at_k import pass_at_k, pass_hat_k
from harness.measuring.pass_rates import pass_rate
from harness.measuring.tally_parts import GraderPart, Part
from harness.measuring.trial_columns import Values
from harness.system.weighted_means import weighted_mean
from harness.types.suites import ERRORS, Aggregation, GateSpec, WeightedGate
from harness.types.summaries import AMOUNTS, Interval

_QUANTILES: dict[Aggregation, float] = {
    "min": 0.0,
    "median": 0.5,
    "p50": 0.5,
    "p90": 0.9,
    "p95": 0.95,
    "p99": 0.99,
    "max": 1.0,
}
_TRIES: dict[Aggregation, Callable[[int, int, int], float]] = {
    "pass@k": pass_at_k,
    "pass^k": pass_hat_k,
}


def gate_number(gate: GateSpec | WeightedGate, metric: str, parts: Sequence[Part]) -> float | None:
    """Return the number of a metric over some models; None where nothing was measured.

    Means and rates weigh every sample alike, however many epochs it has; the others take every
    trial. Percentiles are interpolated linearly. An end of an interval is None where there is no
    spread to estimate it from.
    """
    asked = _Asked(gate, metric, parts)
    how = gate.aggregation
    if how == "sum":
        return asked.total()
    if how in _QUANTILES:
        each = [value for one in asked.values() for value in one.each(worst=asked.worst)]
        return quantile(each, _QUANTILES[how])
    found = asked.estimate()
    end = gate.interval if isinstance(gate, GateSpec) else None
    return found.value if end is None else found.low if end == "low" else found.high


def weighted_number(
    gate: WeightedGate, parts: Sequence[Part]
) -> tuple[float | None, dict[str, float | None]]:
    """Return the weighted mean of a gate's metrics, and each by its name.

    The mean is None where one of them was never measured.
    """
    numbers = {name: gate_number(gate, name, parts) for name in gate.weights}
    measured = [number for number in numbers.values() if number is not None]
    if len(measured) < len(numbers):
        return None, numbers
    return weighted_mean(measured, [float(weight) for weight in gate.weights.values()]), numbers


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a gate asks of a metric of some models."""

    gate: GateSpec | WeightedGate
    metric: str
    parts: Sequence[Part]

    @property
    def worst(self) -> float:
        """Return what an error counts."""
        return 1.0 if self.gate.op in {"lt", "lte"} else 0.0

    def is_amount(self, part: Part) -> bool:
        """Say whether the metric is what trials take; a grader of that name goes before."""
        return self.metric in AMOUNTS and self.metric not in part.tally.names

    def values(self, *, passes: bool = False) -> list[Values]:
        """Return the values of the metric in each model that has it."""
        found = []
        for part in self.parts:
            if self.is_amount(part):
                found.append(part.amount(self.metric))
            elif self.metric == ERRORS and self.metric not in part.tally.names:
                found.append(part.failures)
            else:
                graded: Part | GraderPart | None = part
                if self.metric != "trial":
                    graded = part.graders.get(self.metric)
                if graded is not None:
                    found.append(graded.passes if passes else graded.scores)
        return found

    def total(self) -> float | None:
        """Return the sum over all trials, errored ones included."""
        amounts = [part.total(self.metric) for part in self.parts if self.is_amount(part)]
        each = [value for one in amounts or self.values() for value in one.each()]
        return math.fsum(each) if each else None

    def estimate(self) -> Interval:
        """Return a mean or rate with its interval."""
        how, threshold, worst = self.gate.aggregation, self.gate.threshold, self.worst
        if how in _TRIES:
            return firm_mean(self._chances(_TRIES[how], self.gate.k or 1))
        is_rate = how == "pass_rate"
        found = self.values(passes=is_rate and threshold is None)
        if is_rate:
            return pass_rate(_sum(one.passes(worst=worst, reaching=threshold) for one in found))
        means = [value for one in found for value in one.means(worst=worst)]
        if not any(map(self.is_amount, self.parts)):
            return firm_mean(means)
        amount = mean(means, bounds=(0.0, math.inf))
        return Interval(value=amount.mean, low=amount.low, high=amount.high)

    def _chances(self, chance: Callable[[int, int, int], float], k: int) -> list[float]:
        """Return pass@k or pass^k of every sample that has k trials."""
        tries = [one.passes(worst=self.worst) for one in self.values(passes=True)]
        each = [pair for one in tries for pair in one.elements() if pair[1] >= k]
        chances = {pair: chance(*pair, k) for pair in dict.fromkeys(each)}
        return sorted(chances[pair] for pair in each)


def _sum(tries: Iterable[Counter[tuple[int, int]]]) -> Counter[tuple[int, int]]:
    found = Counter[tuple[int, int]]()
    for each in tries:
        found.update(each)
    return found
