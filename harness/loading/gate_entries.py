"""The entries of `gates`, held against the graders and models of the suite."""

from collections.abc import Collection
from dataclasses import dataclass

from harness.documents.nodes import Listing, Location, Scalar, describe, text_of
from harness.loading.gate_checks import COUNTED, Measurable, check_asked, is_metric
from harness.loading.grader_entries import TRIAL_METRIC
from harness.loading.load_context import LoadContext
from harness.system.suggestions import suggest
from harness.types.suites import MOST_WEIGHT, Gate, GateGroup, GateSpec, WeightedGate

GROUPS = ("all", "any")
_FORMS = "a gate has one of `metric`, `weights`, `all` and `any`"


def bind_gates(location: Location, context: LoadContext, has: Measurable) -> tuple[Gate, ...]:
    """Bind the gates, held against what a run of the suite measures.

    Graders of single samples have no numbers of a whole run. What records of other tools say of
    their result (`recorded.<name>`) is known when they are read.
    """
    return _Reading(context, has).gates(location, "a list of gates")


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the gates of one suite are held against."""

    context: LoadContext
    has: Measurable

    def gates(self, location: Location, allowed: str) -> tuple[Gate, ...]:
        if not isinstance(location.node, Listing):
            self.context.findings.fault(location, f"found {describe(location.node)}", allowed)
            return ()
        return tuple(filter(None, [self.gate(at) for at in location.items()]))

    def gate(self, at: Location) -> Gate | None:
        """Bind one gate; None where that was a fault."""
        forms = [form for form in ("metric", "weights", *GROUPS) if at.child(form)]
        if len(forms) > 1:
            problem = f"{' and '.join(f'`{form}`' for form in forms)} are both given"
            self.context.findings.fault(at.child(forms[1]) or at, problem, _FORMS)
            return None
        if forms and forms[0] in GROUPS:
            return self.group(at, forms[0])
        self.check_model(at)
        check_asked(at, self.context, self.has)
        metrics = [*self.has.graders, TRIAL_METRIC]
        if "weights" in forms:
            check_weights(at, self.context, metrics)
            return self.context.bind(WeightedGate, at)
        check_metric(at, "metric", self.context, [*metrics, *COUNTED])
        return self.context.bind(GateSpec, at)

    def group(self, at: Location, needs: str) -> GateGroup | None:
        context = self.context
        for key, _ in at.children():
            if key != needs:
                context.findings.key_fault(at, key, f'unknown key "{key}"', "a group has no other")
        inner = at.child(needs)
        gates = self.gates(inner, "a list of gates") if inner else ()
        if inner and isinstance(inner.node, Listing) and not inner.node.items:
            context.findings.fault(inner, "there is no gate", "at least one")
        return GateGroup(needs="all" if needs == "all" else "any", gates=gates) if gates else None

    def check_model(self, at: Location) -> None:
        model, named = at.text("model"), at.child("model")
        if model is None or named is None:
            return
        findings = self.context.findings
        pooled = at.child("pooled")
        if pooled and getattr(pooled.node, "value", None) is True:
            findings.fault(named, "`model` and `pooled` are both given", "one of the two")
        elif self.has.models is not None and model not in self.has.models:
            problem = f'the suite has no model "{model}"'
            findings.fault(named, problem, suggest(model, self.has.models))


def check_metric(
    location: Location, key: str, context: LoadContext, metrics: Collection[str]
) -> None:
    """Report a metric that is no grader of the suite, where a key of a gate names it."""
    at = location.child(key)
    metric = text_of(at.node) if at else None
    if at is not None and metric is not None and not is_metric(metric, metrics):
        problem = f'no grader of the suite is called "{metric}"'
        context.findings.fault(at, problem, suggest(metric, metrics))


def check_weights(location: Location, context: LoadContext, metrics: Collection[str]) -> None:
    """Report `weights` of unknown metrics, out of bounds, or all 0."""
    at = location.child("weights")
    weights = dict(at.children()) if at else {}
    for metric, child in weights.items():
        if not is_metric(metric, metrics):
            problem = f'no grader of the suite is called "{metric}"'
            context.findings.key_fault(at or location, metric, problem, suggest(metric, metrics))
        elif not 0 <= _number(child) <= MOST_WEIGHT:
            allowed = f"at least 0, at most {MOST_WEIGHT:,}"
            context.findings.fault(child, f"found {describe(child.node)}", allowed)
    if at and weights and all(_number(child) == 0 for child in weights.values()):
        context.findings.fault(at, "the weights are all 0", "at least one is more")


def _number(at: Location) -> float:
    """Return a weight; 1 in place of what is no number, which the check of the gate reports."""
    value = at.node.value if isinstance(at.node, Scalar) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 1
