"""The entries of `gates`, held against the graders and models of the suite."""

from collections.abc import Collection

from harness.documents.nodes import Listing, Location, describe
from harness.loading.grader_entries import TRIAL_METRIC
from harness.loading.load_context import LoadContext
from harness.system.suggestions import suggest
from harness.types.suites import GateSpec


def bind_gates(
    location: Location,
    context: LoadContext,
    *,
    metrics: Collection[str],
    models: Collection[str] | None,
) -> tuple[GateSpec, ...]:
    """Bind the gates; `models` None leaves the models unchecked, where the suite has no target.

    `metrics` are the graders of the suite. Those of single samples have no numbers of a whole run.
    """
    if not isinstance(location.node, Listing):
        context.findings.fault(location, f"found {describe(location.node)}", "a list of gates")
        return ()
    gates = []
    for at in location.items():
        gate = context.bind(GateSpec, at)
        metric, model = at.text("metric"), at.text("model")
        if metric is not None and metric not in metrics and metric != TRIAL_METRIC:
            named = at.child("metric") or at
            allowed = suggest(metric, [*metrics, TRIAL_METRIC])
            context.findings.fault(named, f'no grader of the suite is called "{metric}"', allowed)
        if model is not None and models is not None and model not in models:
            named = at.child("model") or at
            problem = f'the suite has no model "{model}"'
            context.findings.fault(named, problem, suggest(model, models))
        if gate is not None:
            gates.append(gate)
    return tuple(gates)
