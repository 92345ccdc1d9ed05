"""Native gates: on a metric, on weighted metrics, and groups of them."""

import pytest

from harness.loading.suite_files import load_suite
from harness.types.suites import GateGroup, GateSpec, WeightedGate

BOTH = "graders: {a: {kind: tool, function: contains}, b: {kind: tool, function: contains}}\n"


def gates_of(folder, gates):
    folder.suite(f"{BOTH}gates: {gates}", graders=False)
    return load_suite(folder.path / "suite.yaml").gates


def test_gates_are_on_metrics_on_weights_and_in_groups(folder):
    metric = GateSpec(metric="a", op="gte", value=0.5)
    weighted = WeightedGate(weights={"a": 2.0, "trial": 1.0}, aggregation="p99", op="lt", value=1)
    rate = GateSpec(
        metric="b", aggregation="pass_rate", threshold=0.2, pooled=True, op="gt", value=0
    )
    assert gates_of(
        folder,
        """
  - {metric: a, op: gte, value: 0.5}
  - {weights: {a: 2, trial: 1}, aggregation: p99, op: lt, value: 1}
  - any:
      - {metric: a, op: gte, value: 0.5}
      - all: [{metric: b, aggregation: pass_rate, threshold: 0.2, pooled: true, op: gt, value: 0}]
""",
    ) == (
        metric,
        weighted,
        GateGroup(needs="any", gates=(metric, GateGroup(needs="all", gates=(rate,)))),
    )


@pytest.mark.parametrize(
    ("gate", "fault"),
    [
        ("{metric: c, op: gte, value: 1}", 'gates[0].metric: no grader of the suite is called "c"'),
        ("{weights: {c: 1}, op: gte, value: 1}", "gates[0].weights.c: no grader of the suite"),
        ("{weights: {a: 0}, op: gte, value: 1}", "gates[0].weights: the weights are all 0"),
        ("{weights: {a: -1, b: 2}, op: gte, value: 1}", "gates[0].weights.a: found -1; at least 0"),
        (
            "{weights: {a: x}, op: gte, value: 1}",
            "gates[0].weights.a: found the text 'x'; a number",
        ),
        ("{weights: [a], op: gte, value: 1}", "gates[0].weights: found a list; a mapping"),
        (
            "{metric: a, weights: {a: 1}, op: gte, value: 1}",
            "`metric` and `weights` are both given",
        ),
        *(
            (
                f"{{{what}, threshold: 0.5, op: gte, value: 1{how}}}",
                f"gates[0].threshold: a threshold has no effect on the {name}; `aggregation: ",
            )
            for what in ("metric: a", "weights: {a: 1}")
            for how, name in [("", "mean"), *((f", aggregation: {n}", n) for n in ("p95", "max"))]
        ),
        ("{all: [], any: []}", "gates[0].any: `all` and `any` are both given"),
        ("{all: []}", "gates[0].all: there is no gate; at least one"),
        ("{any: 3}", "gates[0].any: found 3; a list of gates"),
        (
            "{any: [{metric: a, op: gte, value: 1}], op: gte}",
            'gates[0].op: unknown key "op"; a group',
        ),
        ("{any: [{metric: a, op: gte}]}", 'gates[0].any[0]: "value" is missing'),
        ("{op: gte, value: 1}", 'gates[0]: "metric" is missing'),
        (
            "{metric: a, model: m, pooled: true, op: gte, value: 1}",
            "gates[0].model: `model` and `pooled` are both given",
        ),
        (
            "{metric: a, aggregation: pass_rate, threshold: 2, op: gte, value: 1}",
            "gates[0].threshold: found 2; at most 1",
        ),
        ("3", "gates[0]: found 3; a mapping of options"),
    ],
)
def test_a_mistake_is_one_fault_at_its_place(folder, gate, fault):
    folder.suite(f"{BOTH}gates: [{gate}]", graders=False)
    (found,) = folder.faults()
    assert fault in found
