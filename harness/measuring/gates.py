"""Gates: conditions on a model's numbers."""

import math
from collections.abc import Mapping

from harness.measuring.intervals import quantile
from harness.measuring.tallies import ModelTally
from harness.system.numbers import reaches
from harness.types.suites import GateSpec
from harness.types.summaries import GateResult

_SIGNS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "eq": "="}


def judge_gate(gate: GateSpec, models: Mapping[str, ModelTally]) -> list[GateResult]:
    """Judge a gate on the model it names, or on every model.

    A gate on a model that has no trials in this run is not judged: `passed` is None.
    """
    names = [gate.model] if gate.model is not None else list(models)
    return [_judge(gate, name, models.get(name)) for name in names]


def _judge(gate: GateSpec, model: str, tally: ModelTally | None) -> GateResult:
    text = f"{_metric(gate)} of {model} {_SIGNS[gate.op]} {gate.value:g}"
    if tally is None:
        return GateResult(text=text, model=model, value=None, passed=None)
    value = _value(gate, tally)
    return GateResult(text=text, model=model, value=value, passed=meets(value, gate))


def _metric(gate: GateSpec) -> str:
    return f"{gate.aggregation.replace('_', ' ')} of {gate.metric}"


def meets(value: float | None, gate: GateSpec) -> bool:
    """Say whether a value meets a gate; no value meets none."""
    if value is None:
        return False
    at_least, at_most = reaches(value, gate.value), reaches(gate.value, value)
    return {
        "gt": not at_most,
        "gte": at_least,
        "lt": not at_least,
        "lte": at_most,
        "eq": at_least and at_most,
    }[gate.op]


def _value(gate: GateSpec, tally: ModelTally) -> float | None:
    """Return the number a gate is about; what could not be graded counts as the gate's worst."""
    of = tally if gate.metric == "trial" else tally.graders[gate.metric]
    values = of.passes if gate.aggregation == "pass_rate" else of.scores
    wants_low = gate.op in ("lt", "lte")
    if gate.aggregation in ("mean", "pass_rate"):
        means = values.means(worst=1.0 if wants_low else 0.0)
        return math.fsum(means) / len(means) if means else None
    each = sorted(values.each(worst=1.0 if wants_low else 0.0))
    if not each:
        return None
    return {"min": each[0], "max": each[-1]}.get(gate.aggregation, quantile(each, 0.5))
