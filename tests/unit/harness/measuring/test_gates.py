"""Gates on metrics, weights of metrics, groups of gates; on one model, each, or all together."""

import pytest

from harness.measuring.gates import NO_JUDGED_TRIAL, judge_gate
from harness.measuring.tallies import ModelTally
from harness.measuring.tally_parts import Part
from harness.types.suites import GateGroup, GateSpec, WeightedGate
from harness.types.trials import Outcome


def tally(scores, *, repeated=False):
    """Tally trials by the scores of graders `a` and `b`; None stands for an error."""
    made = ModelTally(("a", "b"), epochs=3 if repeated else 1)
    for index, (sample, *pair) in enumerate(scores):
        broke = None in pair
        grades = {
            name: (None, None, "error") if score is None else (score, score >= 1.0, "graded")
            for name, score in zip("ab", pair, strict=True)
        }
        made.add(
            Outcome(
                sample_id=sample,
                model="m",
                epoch=index,
                status="grading_error" if broke else "completed",
                passed=None if broke else pair[0] >= 1,
                score=None if broke else pair[0],
                grades=grades,
            )
        )
    return Part(made)


MODELS = {
    "m": tally([("1", 1.0, 0.2), ("2", 0.5, 0.4)]),
    "n": tally([("1", 0.0, 0.6), ("2", 0.5, 0.8)]),
}


def leaf(metric="a", op="gte", value=0.5, **more):
    return GateSpec(metric=metric, op=op, value=value, **more)


@pytest.mark.parametrize(
    ("aggregation", "threshold", "value"),
    [
        ("mean", None, 0.5),
        ("pass_rate", None, 0.25),
        ("pass_rate", 0.5, 0.75),
        ("pass_rate", 0.0, 1.0),
        ("min", None, 0.0),
        ("max", None, 1.0),
        ("median", None, 0.5),
        ("p50", None, 0.5),
        ("p95", None, 0.925),
        ("p99", None, 0.985),
    ],
)
def test_all_models_together_have_one_number(aggregation, threshold, value):
    gate = leaf(aggregation=aggregation, threshold=threshold, pooled=True)
    (result,) = judge_gate(gate, MODELS)
    assert result.model is None
    assert result.value == pytest.approx(value)
    assert "all models together" in result.text


def test_without_a_model_each_has_to_meet_a_gate():
    found = judge_gate(leaf(value=0.6), MODELS)
    assert [(result.model, result.passed) for result in found] == [("m", True), ("n", False)]


def test_the_text_says_which_scores_count():
    (result,) = judge_gate(leaf(aggregation="pass_rate", threshold=0.5, model="n"), MODELS)
    assert result.text == "share of scores >= 0.5 of a of n >= 0.5"


def test_a_weighted_gate_aggregates_first_and_shows_each_number():
    gate = WeightedGate(weights={"a": 3, "b": 1}, op="gte", value=0.6, model="m")
    (result,) = judge_gate(gate, MODELS)
    assert result.value == pytest.approx(0.75 * 0.75 + 0.25 * 0.3)
    assert result.numbers == {"a": pytest.approx(0.75), "b": pytest.approx(0.3)}
    assert result.text == "weighted mean of (3 x a + 1 x b) of m >= 0.6"
    assert result.passed


@pytest.mark.parametrize(("needs", "passed"), [("all", False), ("any", True)])
def test_a_group_is_met_by_all_or_by_any_of_its_gates(needs, passed):
    gates = (leaf(model="m", value=0.7), leaf("b", model="n", value=0.9))
    (result,) = judge_gate(GateGroup(needs=needs, gates=gates), MODELS)
    assert result.passed is passed
    assert [(part.value, part.passed) for part in result.parts] == [
        (pytest.approx(0.75), True),
        (pytest.approx(0.7), False),
    ]
    word = "and" if needs == "all" else "or"
    assert result.text == f"(mean of a of m >= 0.7 {word} mean of b of n >= 0.9)"


def test_a_group_that_leaves_the_model_open_is_judged_on_each():
    inner = GateGroup(needs="any", gates=(leaf(value=0.9), leaf("b", value=0.7)))
    group = GateGroup(needs="all", gates=(inner, leaf(pooled=True)))
    found = judge_gate(group, MODELS)
    assert [result.passed for result in found] == [False, True]
    assert [[part.model for part in result.parts] for result in found] == [["m", None], ["n", None]]


@pytest.mark.parametrize(
    ("needs", "value", "passed"),
    [("all", 0.1, None), ("all", 0.9, False), ("any", 0.1, True), ("any", 0.9, None)],
)
def test_a_part_that_cannot_be_judged_leaves_a_group_open_unless_the_rest_decides(
    needs, value, passed
):
    gates = (leaf(model="absent"), leaf(model="m", value=value))
    (result,) = judge_gate(GateGroup(needs=needs, gates=gates), MODELS)
    assert result.passed is passed


@pytest.mark.parametrize(
    ("op", "value"), [("gte", 0.75), ("lte", 0.25 + 1 / 2)], ids=["much", "little"]
)
def test_what_could_not_be_graded_counts_as_the_worst_for_the_gate(op, value):
    models = {"m": tally([("1", 1.0, 1.0), ("2", None, None)])}
    rate = leaf(aggregation="pass_rate", threshold=0.5, op=op, value=value)
    (result,) = judge_gate(rate, models)
    assert result.value == (0.5 if op == "gte" else 1.0)
    assert not result.passed


def test_a_share_of_scores_is_taken_of_each_samples_epochs_first():
    models = {
        "m": tally([("1", 1.0, 0), ("1", 1.0, 0), ("1", 0.0, 0), ("2", 0.0, 0)], repeated=True)
    }
    (result,) = judge_gate(leaf(aggregation="pass_rate", threshold=0.5), models)
    assert result.value == pytest.approx(1 / 3)


def test_where_nothing_was_measured_no_gate_is_met():
    weighted = WeightedGate(weights={"cost_usd": 1}, op="lt", value=1)
    gates = (leaf("cost_usd", op="lt"), weighted)
    assert [judge_gate(gate, MODELS)[0].passed for gate in gates] == [False] * 2
    assert judge_gate(leaf(), {}) == []
    assert judge_gate(leaf(pooled=True), {})[0].passed is None


@pytest.mark.parametrize(
    ("op", "value", "bound", "met"),
    [
        ("gt", 0.5, 0.5, False),
        ("gte", 0.5, 0.5, True),
        ("lt", 0.5, 0.5, False),
        ("lte", 0.5, 0.5, True),
        ("eq", 0.6, 0.5, False),
    ],
)
def test_a_value_is_compared_as_the_operator_says(op, value, bound, met):
    models = {"m": tally([("1", value, 0.0)])}
    assert judge_gate(leaf(op=op, value=bound), models)[0].passed is met


def costly(*costs, epochs=1, **fields):
    """Tally trials of one sample each by what they cost; with epochs, of one sample."""
    made = ModelTally(("a",), epochs=epochs)
    for index, (cost, passed) in enumerate(costs):
        status = "completed" if passed is not None else "target_error"
        made.add(
            Outcome(
                sample_id="s" if epochs > 1 else str(index),
                model="m",
                epoch=index,
                status=status,
                passed=passed,
                score=None if passed is None else float(passed),
                seconds=cost,
                grades={} if passed is None else {"a": (float(passed), passed, "graded")},
                tool_calls=index,
                slices={"kind": ("even",) if index % 2 == 0 else ("odd", "3")},
                **fields,
            )
        )
    return {"m": Part(made)}


COSTS = [(1.0, True), (2.0, False), (3.0, True), (14.0, None)]


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ({"metric": "seconds"}, 2.0),
        ({"metric": "seconds", "aggregation": "p90"}, 2.8),
        ({"metric": "seconds", "aggregation": "max"}, 3.0),
        ({"metric": "seconds", "aggregation": "sum"}, 20.0),
        ({"metric": "tool_calls", "aggregation": "sum"}, 6.0),
        ({"metric": "errors"}, 0.25),
        ({"metric": "errors", "aggregation": "sum"}, 1.0),
        ({"metric": "trial", "aggregation": "pass_rate"}, 0.5),
        ({"metric": "trial", "aggregation": "pass_rate", "interval": "low"}, 0.15003898915214947),
        ({"metric": "trial", "aggregation": "pass_rate", "interval": "high"}, 0.8499610108478506),
        ({"metric": "a", "slice": {"kind": "even"}}, 1.0),
        ({"metric": "a", "slice": {"kind": 3}}, 0.0),
        ({"metric": "seconds", "slice": {"kind": "odd"}}, 2.0),
        ({"metric": "errors", "slice": {"kind": "odd"}}, 0.5),
        ({"metric": "cost_usd"}, None),
    ],
)
def test_a_gate_is_on_what_trials_take_on_errors_on_ends_and_on_slices(fields, value):
    (result,) = judge_gate(leaf(**fields, value=0.1), costly(*COSTS))
    assert result.value == (value if value is None else pytest.approx(value))


def test_a_grader_that_is_called_like_what_trials_take_goes_before():
    made = ModelTally(("seconds",))
    grades = {"seconds": (0.25, False, "graded")}
    made.add(
        Outcome(sample_id="s", model="m", epoch=0, status="completed", passed=False, grades=grades)
    )
    (result,) = judge_gate(leaf("seconds"), {"m": Part(made)})
    assert result.value == 0.25


@pytest.mark.parametrize(
    ("how", "k", "value"), [("pass@k", 2, 1.0), ("pass^k", 2, 1 / 3), ("pass^k", 3, 0.0)]
)
def test_a_gate_is_on_some_or_all_of_k_tries(how, k, value):
    models = costly((1.0, True), (1.0, False), (1.0, True), epochs=3)
    for metric in ("trial", "a"):
        (result,) = judge_gate(leaf(metric, aggregation=how, k=k), models)
        assert result.value == pytest.approx(value)
        assert result.text == f"{how[:-1]}{k} of {metric} of m >= 0.5"


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        ({"aggregation": "pass^k", "k": 2}, "fewer than 2 epochs in this run"),
        ({"slice": {"kind": "prime"}}, "no such samples in this run"),
        ({"slice": {"kind": "even", "language": "de"}}, "no such samples in this run"),
        ({"model": "other"}, "no such model in this run"),
    ],
)
def test_a_gate_on_what_the_run_does_not_hold_is_not_judged(fields, note):
    (result,) = judge_gate(leaf("trial", **fields), costly(*COSTS))
    assert (result.passed, result.value, result.note) == (None, None, note)


def test_a_gate_on_an_interval_that_there_is_not_is_missed_and_says_so():
    models = costly((1.0, True), (1.0, True))
    (result,) = judge_gate(leaf("seconds", interval="high", op="lte", value=5), models)
    assert (result.passed, result.note) == (False, "no interval: it takes two samples that differ")


def test_equal_scores_have_wilsons_interval_for_a_gate():
    models = costly(*[(1.0, True)] * 10)
    (result,) = judge_gate(leaf("a", interval="low"), models)
    assert result.value == pytest.approx(0.722467)


def test_the_text_says_which_end_of_which_samples():
    (result,) = judge_gate(leaf("seconds", interval="high", slice={"kind": "odd"}), costly(*COSTS))
    assert result.text == "high end of mean of seconds of m (kind: odd) >= 0.5"


def test_a_name_with_too_many_values_meets_no_gate():
    made = ModelTally(("a",))
    for n in range(200):
        made.add(
            Outcome(
                sample_id=str(n),
                model="m",
                epoch=0,
                status="completed",
                passed=True,
                score=1.0,
                slices={"id": (str(n),)},
            )
        )
    gate = leaf("trial", slice={"id": "3"})
    (result,) = judge_gate(gate, {"m": Part(made)})
    assert (result.passed, result.value) == (False, None)


def states(*found):
    """Tally trials of one sample each by how they went: `pass`, `fail`, `error`, `broken`.

    `broken` are those that grader `a` passed, and on which grader `b` broke.
    """
    made = ModelTally(("a", "b"))
    ends = {"pass": ("completed", True), "fail": ("agent_failure", False)}
    for index, how in enumerate(found):
        status, passed = ends.get(how, ("target_error", None))
        graded = {} if how == "error" else {"a": (1.0, True, "graded")}
        if how == "broken":
            status, graded["b"] = "grading_error", (None, None, "error")
        elif how == "pass":
            graded["b"] = (1.0, True, "graded")
        made.add(
            Outcome(
                sample_id=str(index),
                model="m",
                epoch=0,
                status=status,
                passed=passed,
                score=None if passed is None else float(passed),
                grades=graded,
                seconds=2.0,
                slices={"kind": (how,)},
            )
        )
    return {"m": Part(made)}


GATES = {
    "trial": leaf("trial", aggregation="pass_rate", value=0.5),
    "the sound grader": leaf("a", value=0.5),
    "the broken grader": leaf("b", value=0.5),
    "low end": leaf("a", aggregation="pass_rate", interval="low", value=0.05),
    "high end": leaf("trial", interval="high", value=0.1),
    "little is wanted": leaf("a", op="lte", value=1),
    "seconds": leaf("seconds", op="lte", value=5),
    "seconds in all": leaf("seconds", aggregation="sum", op="lte", value=50),
    "all models": leaf("a", pooled=True, value=0.5),
    "weights": WeightedGate(weights={"a": 1, "b": 1}, op="gte", value=0.5),
    "all": GateGroup(needs="all", gates=(leaf("a", value=0.5), leaf("errors", op="lte", value=1))),
    "any": GateGroup(needs="any", gates=(leaf("a", value=0.5), leaf("trial", value=0.5))),
}


@pytest.mark.parametrize("gate", GATES.values(), ids=GATES)
@pytest.mark.parametrize(
    ("found", "passed"),
    [
        ((), None),
        (("error", "error"), None),
        (("broken", "broken"), None),
        (("broken", "error"), None),
        (("pass", "error"), True),
        (("pass", "broken"), True),
        (("pass", "pass"), True),
    ],
    ids=["no trial", "errors", "another grader broke", "both", "some errors", "some broke", "none"],
)
def test_a_gate_without_any_judged_trial_is_neither_met_nor_missed(gate, found, passed):
    (result,) = judge_gate(gate, states(*found))
    assert result.passed is passed
    if passed is None and not result.parts:
        assert (result.value, result.note) == (None, NO_JUDGED_TRIAL)


def test_what_the_agent_failed_is_judged():
    for metric in ("trial", "a"):
        (result,) = judge_gate(leaf(metric), states("fail", "error"))
        assert (result.passed, result.value) == (False, 0.0)


def test_a_gate_on_a_slice_of_errors_alone_is_not_judged():
    models = states("pass", "error")
    for how, passed in (("pass", True), ("error", None)):
        (result,) = judge_gate(leaf("trial", slice={"kind": how}), models)
        assert result.passed is passed


def test_a_gate_on_errors_is_judged_where_there_is_nothing_else():
    (result,) = judge_gate(leaf("errors", op="lte", value=0.1), states("error", "error"))
    assert (result.passed, result.value) == (False, 1.0)


def test_an_open_part_leaves_a_group_open_unless_another_one_decides():
    errors = leaf("errors", op="lte", value=0.1)
    for needs, passed in (("all", False), ("any", None)):
        group = GateGroup(needs=needs, gates=(leaf("trial"), errors))
        (result,) = judge_gate(group, states("error"))
        assert result.passed is passed
