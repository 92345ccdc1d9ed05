"""Gates in words."""

from collections.abc import Iterable

from harness.types.suites import GateSpec, WeightedGate

_SIGNS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "eq": "="}


def gate_text(gate: GateSpec | WeightedGate, model: str | None) -> str:
    """Say what a gate asks of a model; None stands for all models together."""
    of = "all models together" if model is None else model
    return f"{_number(gate)} of {of} {_SIGNS[gate.op]} {gate.value:g}"


def group_text(needs: str, texts: Iterable[str]) -> str:
    """Say what a group of gates asks, from what each of them asks."""
    return f"({(' and ' if needs == 'all' else ' or ').join(texts)})"


def _number(gate: GateSpec | WeightedGate) -> str:
    how = gate.aggregation.replace("_", " ")
    if gate.aggregation == "pass_rate" and gate.threshold is not None:
        how = f"share of scores >= {gate.threshold:g}"
    if isinstance(gate, GateSpec):
        return f"{how} of {gate.metric}"
    shown = " + ".join(f"{weight:g} x {name}" for name, weight in gate.weights.items())
    return f"weighted {how} of ({shown})"
