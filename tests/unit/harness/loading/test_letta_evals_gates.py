"""Gates of letta-evals: what they ask of a run, and what makes a trial pass."""

import pytest

from harness.loading.suite_files import load_suite
from harness.types.suites import GateGroup, GateSpec, WeightedGate

GRADERS = "graders: {a: {kind: tool, function: contains}, b: {kind: tool, function: exact_match}}"


@pytest.fixture
def load(folder):
    """Load a suite of two graders with a gate."""

    def load(gate, graders=GRADERS):
        folder.suite(f"{graders}\ngate: {gate}", graders=False)
        return load_suite(folder.path / "suite.yaml")

    return load


@pytest.fixture
def faults(folder):
    """Give the faults of a suite of two graders with a gate."""

    def faults(gate):
        folder.suite(f"{GRADERS}\ngate: {gate}", graders=False)
        return folder.faults()

    return faults


def deciding(suite):
    """Give role, bound and operator of every grader."""
    return {spec.name: (spec.role, spec.threshold, spec.op) for spec in suite.graders}


def pooled(metric, op, value, **more):
    return GateSpec(metric=metric, op=op, value=value, pooled=True, **more)


OBSERVED = ("observed", 1.0, "gte")


@pytest.mark.parametrize(
    ("gate", "expected", "first", "second"),
    [
        ("{op: gte, value: 0.8}", pooled("a", "gte", 0.8), ("required", 0.8, "gte"), OBSERVED),
        (
            "{metric_key: b, op: gt, value: 0.5, pass_value: 0.7, pass_op: gte}",
            pooled("b", "gt", 0.5),
            OBSERVED,
            ("required", 0.7, "gte"),
        ),
        (
            "{metric: avg_score, op: lte, value: 0.2}",
            pooled("a", "lte", 0.2),
            ("required", 0.2, "lte"),
            OBSERVED,
        ),
        (
            "{metric: accuracy, op: gte, value: 0.95}",
            pooled("a", "gte", 0.95, aggregation="pass_rate", threshold=1.0),
            ("required", 1.0, "gte"),
            OBSERVED,
        ),
        (
            "{metric: accuracy, op: gte, value: 80, pass_value: 0.5}",
            pooled("a", "gte", 0.8, aggregation="pass_rate", threshold=0.5),
            ("required", 0.5, "gte"),
            OBSERVED,
        ),
        (
            "{metric: accuracy, op: lte, value: 5}",
            pooled("a", "lte", 0.05, aggregation="pass_rate", threshold=1.0),
            ("required", 1.0, "lt"),
            OBSERVED,
        ),
        (
            "{metric: accuracy, op: gte, value: 80, pass_op: lte, pass_value: 0.3}",
            pooled("a", "gte", 0.8, aggregation="pass_rate"),
            ("required", 0.3, "lte"),
            OBSERVED,
        ),
    ],
)
def test_a_flat_gate_names_the_grader_that_decides_and_its_bound(
    load, gate, expected, first, second
):
    suite = load(gate)
    assert suite.gates == (expected,)
    assert deciding(suite) == {"a": first, "b": second}
    assert suite.scoring.rule is None


@pytest.mark.parametrize(
    ("gate", "expected", "decision"),
    [
        (
            "{kind: simple, metric_key: b, op: gte, value: 0.6}",
            pooled("b", "gte", 0.6),
            ("required", 0.6, "gte"),
        ),
        (
            "{kind: simple, metric_key: b, aggregation: p95, op: lt, value: 0.6}",
            pooled("b", "lt", 0.6, aggregation="p95"),
            ("required", 0.6, "lt"),
        ),
        (
            (
                "{kind: simple, metric_key: b, aggregation: accuracy, op: gte, value: 90,"
                " pass_threshold: 0.4}"
            ),
            pooled("b", "gte", 0.9, aggregation="pass_rate", threshold=0.4),
            ("required", 0.4, "gte"),
        ),
        (
            "{kind: simple, metric_key: b, aggregation: accuracy, op: eq, value: 0}",
            pooled("b", "eq", 0.0, aggregation="pass_rate", threshold=1.0),
            ("required", 1.0, "lt"),
        ),
    ],
)
def test_a_simple_gate_asked_of_one_trial_says_when_that_passes(load, gate, expected, decision):
    suite = load(gate)
    assert suite.gates == (expected,)
    assert deciding(suite) == {"a": OBSERVED, "b": decision}


def test_a_weighted_gate_weighs_the_score_of_a_trial_and_is_its_rule(load):
    suite = load(
        "{kind: weighted_average, aggregation: avg_score, weights: {a: 3, b: 1}, op: gte, value: 1}"
    )
    gate = WeightedGate(weights={"a": 3.0, "b": 1.0}, op="gte", value=1.0, pooled=True)
    assert (suite.gates, suite.scoring.rule) == ((gate,), gate)
    assert [(spec.role, spec.weight) for spec in suite.graders] == [("scored", 3), ("scored", 1)]


def test_a_weighted_gate_on_accuracy_counts_whole_scores(load):
    suite = load(
        "{kind: weighted_average, aggregation: accuracy, weights: {a: 1}, op: gte, value: 50}"
    )
    expected = WeightedGate(
        weights={"a": 1.0}, aggregation="pass_rate", threshold=1.0, op="gte", value=0.5, pooled=True
    )
    assert suite.gates == (expected,)
    assert [spec.role for spec in suite.graders] == ["scored", "observed"]


LOGICAL = """
  kind: logical
  operator: and
  conditions:
    - {metric_key: a, aggregation: avg_score, op: gte, value: 0.8}
    - kind: logical
      operator: or
      conditions:
        - {metric_key: a, aggregation: min, op: gt, value: 0}
        - {metric_key: b, aggregation: accuracy, op: gte, value: 75, pass_threshold: 0.5}
"""


def test_a_logical_gate_becomes_groups_of_gates(load):
    suite = load(LOGICAL)
    inner = GateGroup(
        needs="any",
        gates=(
            pooled("a", "gt", 0.0, aggregation="min"),
            pooled("b", "gte", 0.75, aggregation="pass_rate", threshold=0.5),
        ),
    )
    group = GateGroup(needs="all", gates=(pooled("a", "gte", 0.8), inner))
    assert (suite.gates, suite.scoring.rule) == ((group,), group)
    assert deciding(suite) == {"a": ("scored", 0.8, "gte"), "b": ("scored", 0.5, "gte")}


@pytest.mark.parametrize(
    ("value", "taken"),
    [
        ("0.9", "accuracy 0.9 is taken as a share: 0.9 of the samples"),
        ("1", "accuracy 1 is taken as a share: 1 of the samples"),
        ("95", "accuracy 95 is taken as a percentage: 0.95 of the samples"),
        ("1.5", "accuracy 1.5 is taken as a percentage: 0.015 of the samples"),
    ],
)
def test_it_is_said_how_an_accuracy_was_taken(load, value, taken):
    suite = load(f"{{metric: accuracy, op: gte, value: {value}}}")
    assert [note.problem for note in suite.notes] == [taken]
    assert [note.path for note in suite.notes] == ["gate.value"]


def test_what_an_entry_says_itself_stays(load):
    graders = (
        "graders: {a: {kind: tool, function: contains, threshold: 0.1},"
        " b: {kind: tool, function: contains, role: required}}"
    )
    suite = load("{op: gte, value: 0.8}", graders)
    assert deciding(suite) == {"a": ("required", 0.1, "gte"), "b": ("required", 1.0, "gte")}


def test_graders_may_be_listed_beside_a_gate(load):
    graders = "graders: [{name: a, type: contains}, {type: exact_match}]"
    suite = load("{metric_key: exact_match, op: gte, value: 0.5}", graders)
    assert deciding(suite) == {"a": OBSERVED, "exact_match": ("required", 0.5, "gte")}


def test_native_gates_may_stand_beside_a_gate(load):
    suite = load("{op: gte, value: 0.8}\ngates: [{metric: b, op: gte, value: 0.1}]")
    assert suite.gates == (GateSpec(metric="b", op="gte", value=0.1), pooled("a", "gte", 0.8))


@pytest.mark.parametrize(
    ("gate", "fault"),
    [
        ("{op: gte}", 'gate: "value" is missing'),
        ("{op: above, value: 1}", "gate.op: found the text 'above'; allowed: eq, gt, gte"),
        (
            "{metric_key: c, op: gte, value: 1}",
            'gate.metric_key: no grader of the suite is called "c"',
        ),
        (
            "{metric_key: trial, op: gte, value: 1}",
            'gate.metric_key: no grader of the suite is called "trial"',
        ),
        ("{op: gte, value: 80}", "gate.value: found 80; scores are 0 to 1"),
        ("{metric: accuracy, op: gte, value: 101}", "gate.value: found 101; a share up to 1, or"),
        ("{op: gte, value: 1, pass_value: 2}", "gate.pass_value: found 2; at most 1"),
        ("{op: gte, valeu: 1, value: 1}", 'gate.valeu: unknown key "valeu"; did you mean "value"?'),
        (
            "{metric_key: a, aggregation: min, op: gte, value: 1}",
            'gate: "kind" is missing: only a gate with a kind has `aggregation`; one of: simple',
        ),
        ("{kind: simpel}", "gate.kind: found the text 'simpel'; did you mean \"simple\"?"),
        ("{kind: simple, op: gte, value: 1}", 'gate: "metric_key" is missing'),
        (
            "{kind: weighted_average, aggregation: avg_score, weights: {}, op: gte, value: 1}",
            "gate.weights: found a mapping; at least 1 of them",
        ),
        (
            (
                "{kind: weighted_average, aggregation: avg_score, weights: {a: 0, b: 0}, op: gte,"
                " value: 1}"
            ),
            "gate.weights: the weights are all 0; at least one is more",
        ),
        (
            (
                "{kind: weighted_average, aggregation: avg_score, weights: {a: -1, b: 3}, op: gte,"
                " value: 1}"
            ),
            "gate.weights.a: found -1; at least 0",
        ),
        (
            "{kind: weighted_average, aggregation: avg_score, weights: {c: 1}, op: gte, value: 1}",
            'gate.weights.c: no grader of the suite is called "c"',
        ),
        (
            "{kind: weighted_average, weights: {a: 1}, op: gte, value: 1}",
            'gate: "aggregation" is missing',
        ),
        (
            "{kind: logical, operator: and, conditions: []}",
            "gate.conditions: found a list; a list of conditions, at least one",
        ),
        ("{kind: logical, operator: and}", 'gate: "conditions" is missing; a list of conditions'),
        (
            (
                "{kind: logical, operator: xor, conditions:"
                " [{metric_key: a, aggregation: min, op: gte, value: 1}]}"
            ),
            "gate.operator: found the text 'xor'; did you mean",
        ),
        (
            "{kind: logical, operator: and, conditions: [{metric_key: a, op: gte, value: 1}]}",
            'gate.conditions[0]: "aggregation" is missing',
        ),
        (
            "{kind: logical, operator: and, conditions: [{kind: simple}]}",
            "gate.conditions[0].kind: found the text 'simple'; `kind: logical`, or",
        ),
        (
            (
                "{kind: logical, operator: and, conditions: [{kind: logical, operator: or,"
                " conditions: [{metric_key: c, aggregation: min, op: gte, value: 1}]}]}"
            ),
            'gate.conditions[0].conditions[0].metric_key: no grader of the suite is called "c"',
        ),
        ("3", "gate: found 3; a mapping of options"),
    ],
)
def test_a_mistake_in_a_gate_is_one_fault_at_its_place(faults, gate, fault):
    (found,) = faults(gate)
    assert fault in found
    assert found.startswith("suite.yaml:4:")
