"""Gates in words."""

from collections.abc import Iterable

from harness.system.shown_numbers import plain_number
from harness.system.slice_texts import slice_text
from harness.types.suites import GateSpec, WeightedGate

_ALL = 15
"""As many digits as what was written in the suite may have."""

_SIGNS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "eq": "="}


def gate_text(gate: GateSpec | WeightedGate, model: str | None) -> str:
    """Say what a gate asks of a model; None stands for all models together."""
    of = "all models together" if model is None else model
    return (
        f"{_number(gate)} of {of}{_slice(gate)} {_SIGNS[gate.op]} {plain_number(gate.value, _ALL)}"
    )


def group_text(needs: str, texts: Iterable[str]) -> str:
    """Say what a group of gates asks, from what each of them asks."""
    return f"({(' and ' if needs == 'all' else ' or ').join(texts)})"


def _slice(gate: GateSpec | WeightedGate) -> str:
    shown = ", ".join(f"{name}: {slice_text(value)}" for name, value in gate.slice.items())
    return f" ({shown})" if shown else ""


def _number(gate: GateSpec | WeightedGate) -> str:
    how = _aggregation(gate)
    if isinstance(gate, GateSpec):
        end = f"{gate.interval} end of " if gate.interval else ""
        return f"{end}{how} of {gate.metric}"
    shown = " + ".join(
        f"{plain_number(weight, _ALL)} x {name}" for name, weight in gate.weights.items()
    )
    return f"weighted {how} of ({shown})"


def _aggregation(gate: GateSpec | WeightedGate) -> str:
    if gate.aggregation == "pass_rate" and gate.threshold is not None:
        return f"share of scores >= {plain_number(gate.threshold, _ALL)}"
    if gate.aggregation in ("pass@k", "pass^k"):
        return f"{gate.aggregation[:-1]}{gate.k}"
    return gate.aggregation.replace("_", " ")
