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
        (
            "{metric: latency, op: lte, value: 3}",
            "gates[0].metric: no grader of the suite is called",
        ),
        ("{metric: a, op: gte, value: 80}", "gates[0].value: found 80; at most 1"),
        ("{metric: errors, op: lte, value: 3}", "gates[0].value: found 3; at most 1"),
        (
            "{metric: seconds, aggregation: pass_rate, op: lte, value: 3}",
            "gates[0].aggregation: seconds does not pass or fail; mean, sum,",
        ),
        (
            "{metric: a, aggregation: sum, op: lte, value: 1}",
            "gates[0].aggregation: there is no sum of this metric; sums are of seconds, cost_usd,",
        ),
        (
            "{metric: a, aggregation: pass^k, op: gte, value: 1}",
            'gates[0]: "k" is missing; `pass^k` needs it',
        ),
        (
            "{metric: a, aggregation: pass@k, k: 4, op: gte, value: 1}",
            "gates[0].k: found 4, and the suite has epochs: 3; at most 3",
        ),
        ("{metric: a, k: 2, op: gte, value: 1}", "gates[0].k: `k` has no effect on the mean"),
        (
            "{metric: a, aggregation: pass^k, k: 0, op: gte, value: 1}",
            "gates[0].k: found 0; at least 1",
        ),
        (
            "{metric: a, aggregation: p90, interval: low, op: gte, value: 1}",
            "gates[0].interval: a p90 has no interval; mean, pass_rate, pass@k and pass^k have one",
        ),
        (
            "{metric: a, interval: lower, op: gte, value: 1}",
            "gates[0].interval: found the text 'lower'; did you mean \"low\"?",
        ),
        (
            "{weights: {a: 1}, interval: low, op: gte, value: 1}",
            'gates[0].interval: unknown key "interval"',
        ),
        (
            "{weights: {seconds: 1}, op: gte, value: 1}",
            'gates[0].weights.seconds: no grader of the suite is called "seconds"',
        ),
        (
            "{metric: a, slice: {kind: x}, op: gte, value: 1}",
            'gates[0].slice.kind: the suite is not sliced by "kind"; name it in `slices`',
        ),
    ],
)
def test_a_mistake_is_one_fault_at_its_place(folder, gate, fault):
    folder.suite(f"{BOTH}epochs: 3\ngates: [{gate}]", graders=False)
    (found,) = folder.faults()
    assert fault in found


@pytest.mark.parametrize(
    ("gate", "fields"),
    [
        (
            "{metric: seconds, aggregation: p90, op: lte, value: 30}",
            {"metric": "seconds", "aggregation": "p90", "op": "lte", "value": 30},
        ),
        (
            "{metric: errors, aggregation: sum, op: lte, value: 3}",
            {"metric": "errors", "aggregation": "sum", "op": "lte", "value": 3},
        ),
        (
            "{metric: a, aggregation: pass^k, k: 3, interval: low, op: gte, value: 0.8}",
            {"aggregation": "pass^k", "k": 3, "interval": "low", "op": "gte", "value": 0.8},
        ),
        (
            "{metric: a, slice: {language: de, level: 3, easy: true}, op: gte, value: 0.8}",
            {"slice": {"language": "de", "level": 3, "easy": True}, "op": "gte", "value": 0.8},
        ),
    ],
)
def test_gates_are_on_amounts_tries_ends_and_slices(folder, gate, fields):
    sliced = f"{BOTH}epochs: 3\nslices: [language, level, easy]\ngates: [{gate}]"
    folder.suite(sliced, graders=False)
    suite = load_suite(folder.path / "suite.yaml")
    assert suite.gates == (GateSpec(**{"metric": "a", **fields}),)


def test_a_grader_may_be_called_like_what_trials_take(folder):
    folder.suite(
        "graders: {steps: {kind: tool, function: contains}}\n"
        "gates: [{metric: steps, aggregation: pass_rate, op: gte, value: 1}]",
        graders=False,
    )
    assert folder.faults() == []
