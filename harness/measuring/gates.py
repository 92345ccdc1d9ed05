"""Gates: conditions on the numbers of one model, or of all models together."""

from collections.abc import Iterator, Mapping, Sequence

from harness.measuring.gate_numbers import gate_number, weighted_number
from harness.measuring.gate_texts import gate_text, group_text
from harness.measuring.tallies import ModelTally
from harness.system.numbers import compares
from harness.types.suites import Gate, GateGroup, GateSpec, WeightedGate
from harness.types.summaries import GateResult

Tallies = Mapping[str, ModelTally]


def judge_gate(gate: Gate, models: Tallies) -> list[GateResult]:
    """Judge a gate: on the model it names, on all models together, or on every model.

    A gate on a model that has no trials in this run is not judged: `passed` is None.
    """
    if any(_is_open(leaf) for leaf in _leaves(gate)):
        return [_judge(gate, name, models) for name in models]
    return [_judge(gate, None, models)]


def _leaves(gate: Gate) -> Iterator[GateSpec | WeightedGate]:
    if isinstance(gate, GateGroup):
        for one in gate.gates:
            yield from _leaves(one)
    else:
        yield gate


def _is_open(gate: GateSpec | WeightedGate) -> bool:
    """Say whether a gate leaves open which model is meant, so that each is."""
    return gate.model is None and not gate.pooled


def _judge(gate: Gate, model: str | None, models: Tallies) -> GateResult:
    """Judge a gate; `model` is the one that is meant where it leaves that open."""
    if isinstance(gate, GateGroup):
        return _judge_group(gate, model, models)
    name = None if gate.pooled else gate.model or model
    text = gate_text(gate, name)
    tallies = list(models.values()) if name is None else [models[name]] if name in models else []
    if not tallies:
        return GateResult(text=text, model=name, value=None, passed=None)
    numbers: dict[str, float | None] = {}
    if isinstance(gate, GateSpec):
        value = gate_number(gate, gate.metric, tallies)
    else:
        value, numbers = weighted_number(gate, tallies)
    # Where nothing was measured, no gate is met.
    passed = value is not None and compares(value, gate.op, gate.value)
    return GateResult(text=text, model=name, value=value, passed=passed, numbers=numbers)


def _judge_group(gate: GateGroup, model: str | None, models: Tallies) -> GateResult:
    parts = tuple(_judge(one, model, models) for one in gate.gates)
    met = [part.passed for part in parts]
    passed = _all(met) if gate.needs == "all" else _any(met)
    named = {part.model for part in parts}
    return GateResult(
        text=group_text(gate.needs, (part.text for part in parts)),
        model=named.pop() if len(named) == 1 else model,
        value=None,
        passed=passed,
        parts=parts,
    )


def _all(met: Sequence[bool | None]) -> bool | None:
    return False if False in met else None if None in met else True


def _any(met: Sequence[bool | None]) -> bool | None:
    return True if True in met else None if None in met else False
