"""The numbers that gates are about; what could not be graded counts as a gate's worst."""

import math
from collections.abc import Sequence

from harness.measuring.intervals import quantile
from harness.measuring.tallies import GraderTally, ModelTally
from harness.system.weighted_means import weighted_mean
from harness.types.suites import GateSpec, WeightedGate

_QUANTILES = {"min": 0.0, "median": 0.5, "p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}


def gate_number(
    gate: GateSpec | WeightedGate, metric: str, tallies: Sequence[ModelTally]
) -> float | None:
    """Return the number of a metric over some models; None where nothing was measured.

    Means and rates weigh every sample alike, however many epochs it has; the others take every
    trial. Percentiles are interpolated linearly.
    """
    worst = 1.0 if gate.op in {"lt", "lte"} else 0.0
    of = [found for tally in tallies if (found := _metric(tally, metric)) is not None]
    if gate.aggregation == "pass_rate" and gate.threshold is None:
        values = [value for one in of for value in one.passes.means(worst=worst)]
    elif gate.aggregation == "pass_rate":
        values = [v for one in of for v in one.scores.means(worst=worst, reaching=gate.threshold)]
    elif gate.aggregation == "mean":
        values = [value for one in of for value in one.scores.means(worst=worst)]
    else:
        each = [value for one in of for value in one.scores.each(worst=worst)]
        return quantile(each, _QUANTILES[gate.aggregation])
    return math.fsum(values) / len(values) if values else None


def weighted_number(
    gate: WeightedGate, tallies: Sequence[ModelTally]
) -> tuple[float | None, dict[str, float | None]]:
    """Return the weighted mean of a gate's metrics, and each by its name.

    The mean is None where one of them was never measured.
    """
    numbers = {name: gate_number(gate, name, tallies) for name in gate.weights}
    measured = [number for number in numbers.values() if number is not None]
    if len(measured) < len(numbers):
        return None, numbers
    return weighted_mean(measured, [float(weight) for weight in gate.weights.values()]), numbers


def _metric(tally: ModelTally, metric: str) -> ModelTally | GraderTally | None:
    """Return the numbers of a metric; None where no trial of the model has it."""
    return tally if metric == "trial" else tally.graders.get(metric)
