"""The entries of `gates`, held against the graders and models of the suite."""

from collections.abc import Collection

from harness.loading.binding import bind
from harness.loading.grader_entries import TRIAL_METRIC
from harness.loading.nodes import Listing, Spot, describe, is_null
from harness.loading.workbench import Workbench
from harness.system.suggestions import suggest
from harness.types.suites import GateSpec


def bind_gates(
    spot: Spot,
    bench: Workbench,
    *,
    metrics: Collection[str],
    models: Collection[str] | None,
) -> tuple[GateSpec, ...]:
    """Bind the gates; `models` None leaves the models unchecked, where the suite has no target.

    `metrics` are the graders of the suite. Those of single samples have no numbers of a whole run.
    """
    if not isinstance(spot.node, Listing):
        if not is_null(spot.node):
            bench.findings.fault(spot, f"found {describe(spot.node)}", "a list of gates")
        return ()
    gates = []
    for at in spot.items():
        gate = bind(GateSpec, at, bench)
        metric, model = at.text("metric"), at.text("model")
        if metric is not None and metric not in metrics and metric != TRIAL_METRIC:
            place = at.child("metric") or at
            allowed = suggest(metric, [*metrics, TRIAL_METRIC])
            bench.findings.fault(place, f'no grader of the suite is called "{metric}"', allowed)
        if model is not None and models is not None and model not in models:
            place = at.child("model") or at
            problem = f'the suite has no model "{model}"'
            bench.findings.fault(place, problem, suggest(model, models))
        if gate is not None:
            gates.append(gate)
    return tuple(gates)
