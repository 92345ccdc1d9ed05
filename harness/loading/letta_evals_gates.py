"""The key `gate` of letta-evals in all its forms, as a gate and as what makes a trial pass.

A trial passes where the gate, asked of that trial alone, is met. Source: letta-evals 0.2 to 0.20.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from harness.documents.nodes import Listing, Location, describe
from harness.loading.gate_entries import check_metric, check_weights
from harness.loading.load_context import LoadContext
from harness.system.numbers import compares
from harness.system.suggestions import suggest
from harness.types.suites import (
    Aggregation,
    Gate,
    GateGroup,
    GateSpec,
    Operator,
    WeightedGate,
)

LettaAggregation = Literal["avg_score", "accuracy", "min", "max", "median", "p50", "p95", "p99"]
_AGGREGATIONS: Mapping[str, Aggregation] = {
    "avg_score": "mean",
    "accuracy": "pass_rate",
    "min": "min",
    "max": "max",
    "median": "median",
    "p50": "p50",
    "p95": "p95",
    "p99": "p99",
}
_KINDS = ("simple", "weighted_average", "logical")
_PERCENT = 100
_WHOLE = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatGate:
    """A gate without `kind`, of letta-evals 0.2 to 0.6."""

    metric: Literal["avg_score", "accuracy"] = "avg_score"
    metric_key: str | None = None
    op: Operator
    value: float
    pass_op: Operator | None = None
    pass_value: float | None = field(default=None, metadata={"ge": 0, "le": 1})


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleGate:
    """A gate of `kind: simple`, of letta-evals 0.7 to 0.20."""

    kind: str
    metric_key: str
    aggregation: LettaAggregation = "avg_score"
    op: Operator
    value: float
    pass_threshold: float | None = field(default=None, metadata={"ge": 0, "le": 1})


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition of a gate of `kind: logical`."""

    metric_key: str
    aggregation: LettaAggregation
    op: Operator
    value: float
    pass_threshold: float | None = field(default=None, metadata={"ge": 0, "le": 1})


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedAverageGate:
    """A gate of `kind: weighted_average`."""

    kind: str
    aggregation: LettaAggregation
    weights: Mapping[str, float] = field(metadata={"min_length": 1})
    op: Operator
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LogicalGate:
    """A gate of `kind: logical`, its conditions aside."""

    kind: str
    operator: Literal["and", "or"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What decides whether a grader's score passes, and its weight in the score of a trial."""

    threshold: float | None = None
    op: Operator = "gte"
    weight: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LettaGate:
    """A gate that was read; `decisions` are by the graders that it names.

    With `joint` they decide together, by the gate itself; without, each has to pass.
    """

    gate: Gate
    decisions: Mapping[str, Decision]
    joint: bool = False


def read_gate(location: Location, context: LoadContext, names: Collection[str]) -> LettaGate | None:
    """Read a gate, held against the names of the suite's graders; None where that was a fault."""
    reading = _Reading(context, tuple(names))
    kind = location.child("kind")
    if kind is None:
        return reading.flat(location)
    read = {
        "simple": reading.simple,
        "weighted_average": reading.weighted_average,
        "logical": reading.logical,
    }.get(location.text("kind") or "")
    if read is None:
        found = f"found {describe(kind.node)}"
        context.findings.fault(kind, found, suggest(location.text("kind") or "", _KINDS))
        return None
    return read(location)


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads the gate of one suite, whose graders are called `names`."""

    context: LoadContext
    names: tuple[str, ...]

    def flat(self, at: Location) -> LettaGate | None:
        for key in ("aggregation", "weights", "operator", "conditions", "pass_threshold"):
            if at.child(key):
                problem = f'"kind" is missing: only a gate with a kind has `{key}`'
                self.context.findings.fault(at, problem, f"one of: {', '.join(_KINDS)}")
                return None
        gate = self.bind(FlatGate, at)
        name = (gate.metric_key or next(iter(self.names), None)) if gate else None
        if gate is None or name is None:
            return None
        value = self.bound(at, gate.value, gate.metric)
        if value is None:
            return None
        test = _test_of(gate, value)
        counted = gate.metric == "accuracy" and test.op == "gte"
        spec = GateSpec(
            metric=name,
            aggregation=_AGGREGATIONS[gate.metric],
            threshold=test.threshold if counted else None,
            pooled=True,
            op=gate.op,
            value=value,
        )
        return LettaGate(gate=spec, decisions={name: _alone(spec) if counted else test})

    def simple(self, at: Location) -> LettaGate | None:
        spec = self.leaf(at, SimpleGate)
        return LettaGate(gate=spec, decisions={spec.metric: _alone(spec)}) if spec else None

    def leaf(self, at: Location, record: type[SimpleGate] | type[Condition]) -> GateSpec | None:
        gate: SimpleGate | Condition | None = self.bind(record, at)
        value = self.bound(at, gate.value, gate.aggregation) if gate else None
        if gate is None or value is None:
            return None
        reached = _WHOLE if gate.pass_threshold is None else gate.pass_threshold
        return GateSpec(
            metric=gate.metric_key,
            aggregation=_AGGREGATIONS[gate.aggregation],
            threshold=reached if gate.aggregation == "accuracy" else None,
            pooled=True,
            op=gate.op,
            value=value,
        )

    def weighted_average(self, at: Location) -> LettaGate | None:
        before = len(self.context.findings.faults)
        check_weights(at, self.context, self.names)
        gate = self.bind(WeightedAverageGate, at)
        value = self.bound(at, gate.value, gate.aggregation) if gate else None
        if gate is None or value is None or len(self.context.findings.faults) > before:
            return None
        weighted = WeightedGate(
            weights=gate.weights,
            aggregation=_AGGREGATIONS[gate.aggregation],
            threshold=_WHOLE if gate.aggregation == "accuracy" else None,
            pooled=True,
            op=gate.op,
            value=value,
        )
        decisions = {name: Decision(weight=weight) for name, weight in gate.weights.items()}
        return LettaGate(gate=weighted, decisions=decisions, joint=True)

    def logical(self, at: Location) -> LettaGate | None:
        group = self.group(at)
        if group is None:
            return None
        decisions: dict[str, Decision] = {}
        for leaf in _leaves(group):
            decisions.setdefault(leaf.metric, _alone(leaf))
        return LettaGate(gate=group, decisions=decisions, joint=True)

    def group(self, at: Location) -> GateGroup | None:
        head = self.bind(LogicalGate, at, also={"conditions"})
        listed = at.child("conditions")
        if listed is None or not isinstance(listed.node, Listing) or not listed.node.items:
            found = f"found {describe(listed.node)}" if listed else '"conditions" is missing'
            allowed = "a list of conditions, at least one"
            self.context.findings.fault(listed or at, found, allowed)
            return None
        gates = [self.condition(one) for one in listed.items()]
        bound = tuple(gate for gate in gates if gate is not None)
        if head is None or len(bound) < len(gates):
            return None
        return GateGroup(needs="all" if head.operator == "and" else "any", gates=bound)

    def condition(self, at: Location) -> Gate | None:
        kind = at.child("kind")
        if kind is None:
            return self.leaf(at, Condition)
        if at.text("kind") != "logical":
            allowed = "`kind: logical`, or a condition without a kind"
            self.context.findings.fault(kind, f"found {describe(kind.node)}", allowed)
            return None
        return self.group(at)

    def bind(self, record: type[Any], at: Location, also: Collection[str] = ()) -> Any:
        """Bind a part of the gate; None where that, or the grader it names, was a fault."""
        before = len(self.context.findings.faults)
        check_metric(at, "metric_key", self.context, self.names)
        bound = self.context.bind(record, at, also=also)
        return bound if len(self.context.findings.faults) == before else None

    def bound(self, location: Location, value: float, aggregation: str) -> float | None:
        """Return the bound of a gate as a share; None where that was a fault.

        letta-evals documents accuracy as a share and computes it as a percentage.
        """
        at, findings = location.child("value") or location, self.context.findings
        most = _PERCENT if aggregation == "accuracy" else 1
        if not 0 <= value <= most:
            words = (
                "a share up to 1, or a percentage up to 100" if most > 1 else "scores are 0 to 1"
            )
            findings.fault(at, f"found {describe(at.node)}", words)
            return None
        if aggregation != "accuracy":
            return value
        share, taken = (value / _PERCENT, "percentage") if value > 1 else (value, "share")
        findings.note(at, f"accuracy {value:g} is taken as a {taken}: {share:.4g} of the samples")
        return share


def _test_of(gate: FlatGate, value: float) -> Decision:
    """Return when a sample passes, as letta-evals 0.2 to 0.6 tests it."""
    if gate.pass_value is None and gate.metric == "accuracy":
        return Decision(threshold=_WHOLE)
    threshold = value if gate.pass_value is None else gate.pass_value
    return Decision(threshold=threshold, op=gate.pass_op or gate.op)


def _alone(gate: GateSpec) -> Decision:
    """Return when a score passes: where the gate, asked of that score alone, is met."""
    if gate.threshold is None:
        return Decision(threshold=gate.value, op=gate.op)
    wants_misses = compares(0.0, gate.op, gate.value) and not compares(1.0, gate.op, gate.value)
    return Decision(threshold=gate.threshold, op="lt" if wants_misses else "gte")


def _leaves(gate: Gate) -> list[GateSpec]:
    if isinstance(gate, GateGroup):
        return [leaf for one in gate.gates for leaf in _leaves(one)]
    return [gate] if isinstance(gate, GateSpec) else []
