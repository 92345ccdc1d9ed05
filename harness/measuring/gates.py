"""Gates: conditions on the numbers of one model, or of all models together."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.measuring.faulty_graders import leaves, metrics_of
from harness.measuring.gate_numbers import gate_number, weighted_number
from harness.measuring.gate_texts import gate_text, group_text
from harness.measuring.tally_parts import Part
from harness.system.numbers import compares
from harness.system.slice_texts import slice_text
from harness.types.suites import ERRORS, Gate, GateGroup, GateSpec, WeightedGate
from harness.types.summaries import GateResult

Parts = Mapping[str, Part]

NO_JUDGED_TRIAL = "no trial of it was driven and graded to its end"
"""Said of a gate whose trials all ended in errors: it is neither met nor missed."""


def judge_gate(
    gate: Gate, models: Parts, *, unmet: Collection[str] = frozenset()
) -> list[GateResult]:
    """Judge a gate: on the model it names, on all models together, or on every model.

    A gate on a model or a slice that has no trials in this run, or on more epochs than it has, is
    not judged: `passed` is None; so is one of which every trial ended in an error, but for a gate
    on errors. `unmet` are the metrics of graders that cannot work: no gate on them is met.
    """
    judging = _Judging(models, unmet)
    if any(_is_open(leaf) for leaf in leaves(gate)):
        return [judging.judge(gate, name) for name in models]
    return [judging.judge(gate, None)]


def _is_open(gate: GateSpec | WeightedGate) -> bool:
    """Say whether a gate leaves open which model is meant, so that each is."""
    return gate.model is None and not gate.pooled


@dataclass(frozen=True, slots=True)
class _Judging:
    """What the gates of one run are held against."""

    models: Parts
    unmet: Collection[str]

    def judge(self, gate: Gate, model: str | None) -> GateResult:
        """Judge a gate; `model` is the one that is meant where it leaves that open."""
        if isinstance(gate, GateGroup):
            return self._judge_group(gate, model)
        models = self.models
        name = None if gate.pooled else gate.model or model
        text = gate_text(gate, name)
        of = list(models.values()) if name is None else [models[name]] if name in models else []
        if note := _absence(gate, of):
            return GateResult(text=text, model=name, value=None, passed=None, note=note)
        overflows = _overflows(gate, of)
        of = [part.sliced(_wanted(gate)) for part in of]
        numbers: dict[str, float | None] = {}
        if isinstance(gate, GateSpec):
            value = gate_number(gate, gate.metric, of)
        else:
            value, numbers = weighted_number(gate, of)
        # Where nothing was measured, or by what cannot work, no gate is met.
        works = not any(metric in self.unmet for metric in metrics_of(gate))
        if works and not overflows and not _is_judged(gate, of):
            return GateResult(text=text, model=name, value=None, passed=None, note=NO_JUDGED_TRIAL)
        passed = works and value is not None and compares(value, gate.op, gate.value)
        return GateResult(
            text=text,
            model=name,
            value=value,
            passed=passed,
            numbers=numbers,
            note=_no_interval(gate, of) if value is None else None,
        )

    def _judge_group(self, gate: GateGroup, model: str | None) -> GateResult:
        parts = tuple(self.judge(one, model) for one in gate.gates)
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


def _wanted(gate: GateSpec | WeightedGate) -> dict[str, str]:
    return {name: slice_text(value) for name, value in gate.slice.items()}


def _absence(gate: GateSpec | WeightedGate, of: Sequence[Part]) -> str | None:
    """Say what a gate is about that the run does not have; None where it has it."""
    if not of:
        return "no such model in this run"
    if gate.k is not None and all(part.tally.epochs < gate.k for part in of):
        return f"fewer than {gate.k} epochs in this run"
    wanted = _wanted(gate)
    found = not wanted or any(part.tally.slices.of(wanted) for part in of)
    return None if found or _overflows(gate, of) else "no such samples in this run"


def _overflows(gate: GateSpec | WeightedGate, of: Sequence[Part]) -> bool:
    """Say whether the run is not sliced as the gate is: nothing measures it, and it is not met."""
    return any(name in part.tally.slices.overflowing for part in of for name in gate.slice)


def _is_judged(gate: GateSpec | WeightedGate, of: Sequence[Part]) -> bool:
    """Say whether each metric of a gate has a trial that says something of the agent."""
    return all(
        any(_is_about_errors(metric, part) or part.judges(metric) for part in of)
        for metric in metrics_of(gate)
    )


def _is_about_errors(metric: str, part: Part) -> bool:
    return metric == ERRORS and metric not in part.tally.names and part.trials > 0


def _no_interval(gate: GateSpec | WeightedGate, of: Sequence[Part]) -> str | None:
    """Say that there is a number and no interval, where that is why a gate has no value."""
    if not isinstance(gate, GateSpec) or gate.interval is None:
        return None
    if gate_number(replace(gate, interval=None), gate.metric, of) is None:
        return None
    return "no interval: it takes two samples that differ"


def _all(met: Sequence[bool | None]) -> bool | None:
    return False if False in met else None if None in met else True


def _any(met: Sequence[bool | None]) -> bool | None:
    return True if True in met else None if None in met else False
