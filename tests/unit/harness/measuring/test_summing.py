"""The summary of a run from the outcomes of its trials."""

from dataclasses import replace

import msgspec
import pytest
from fakes.stub_graders import StubGrader, grader_spec

from harness.measuring.summing import Tally, summarise
from harness.types.suites import GateSpec, Limits, Suite
from harness.types.summaries import BrokenGrader, Interval
from harness.types.trials import Outcome


def suite_with(gates=(), names=("g",), **limits):
    graders = tuple(grader_spec(StubGrader(), name) for name in names)
    return Suite(name="s", graders=graders, gates=tuple(gates), limits=Limits(**limits))


def outcome(sample_id, *, status="completed", passed=True, grade=None):
    value = 1.0 if passed else 0.0
    if status in ("target_error", "grading_error"):
        passed, value = None, None
    return Outcome(
        sample_id=sample_id,
        model="m",
        epoch=0,
        status=status,
        passed=passed,
        score=value,
        grades={} if status == "target_error" else {"g": grade or (value, passed, "graded")},
    )


def summed(outcomes, suite=None, planned=None):
    suite = suite or suite_with()
    tally = Tally(["g"], ("m",), epochs=suite.epochs, errors=suite.errors)
    for one in outcomes:
        tally.add(one)
    return summarise(tally, suite, run_id="r", planned=planned)


def test_an_error_never_improves_a_rate_or_a_mean():
    good = [outcome(str(n)) for n in range(9)]
    summary = summed([*good, outcome("x", status="target_error")])
    model = summary.models["m"]
    assert model.pass_rate.value == pytest.approx(0.9)
    assert model.score.mean == pytest.approx(0.9)
    assert model.graders["g"].mean == pytest.approx(0.9)
    assert (model.errors, model.graders["g"].errors) == (1, 1)
    assert model.pass_rate_if_errors_passed == 1.0


def test_an_agent_failure_fails_although_its_partial_grade_passed():
    summary = summed(
        [
            outcome("a"),
            outcome("b", status="agent_failure", passed=False, grade=(1.0, True, "graded")),
        ]
    )
    model = summary.models["m"]
    assert (model.agent_failures, model.passed, model.errors) == (1, 1, 0)
    assert (model.graders["g"].passed, model.graders["g"].mean) == (1, 0.5)


def test_a_skipped_grade_is_in_no_denominator():
    summary = summed([outcome("a"), outcome("b", grade=(None, None, "skipped"))])
    grader = summary.models["m"].graders["g"]
    assert (grader.mean, grader.graded, grader.skipped) == (1.0, 1, 1)


def test_a_trial_to_which_no_grader_applies_is_ungraded_not_passed():
    none = outcome("b", grade=(None, None, "skipped"))
    ungraded = Outcome(sample_id="b", model="m", epoch=0, status="completed", grades=none.grades)
    model = summed([outcome("a"), ungraded]).models["m"]
    assert (model.ungraded, model.passed, model.pass_rate.value) == (1, 1, 1.0)


@pytest.mark.parametrize(
    ("outcomes", "planned", "reason"),
    [
        ([outcome("a")], 2, "1 of 2 trials is missing"),
        ([outcome("a"), outcome("b", status="target_error")], 2, "ended in errors"),
        (
            [
                outcome("a"),
                *[outcome(str(n)) for n in range(20)],
                outcome("b", status="grading_error", grade=(None, None, "error")),
            ],
            22,
            "the grader g broke on 1 trial",
        ),
        ([outcome("a", status="agent_failure", passed=False)], 1, "no trial was driven"),
        ([], 0, "no trial was driven"),
    ],
)
def test_a_run_that_cannot_be_judged_is_incomplete_and_says_why(outcomes, planned, reason):
    summary = summed(outcomes, planned=planned)
    assert (summary.complete, summary.passed) == (False, False)
    assert reason in " ".join(summary.reasons)


def test_few_errors_leave_a_run_complete():
    good = [outcome(str(n)) for n in range(19)]
    assert summed([*good, outcome("x", status="target_error")], planned=20).complete


@pytest.mark.parametrize(
    ("op", "value", "met"),
    [
        ("gte", 0.9, True),
        ("gte", 0.91, False),
        ("gt", 0.9, False),
        ("lt", 0.9, False),
        ("lte", 0.9, True),
        ("eq", 0.9, True),
        ("lt", 0.95, True),
        ("eq", 0.8, False),
    ],
)
def test_a_gate_met_exactly_is_met(op, value, met):
    gate = GateSpec(metric="g", op=op, value=value)
    outcomes = [outcome(str(n), passed=n != 0) for n in range(10)]
    summary = summed(outcomes, suite_with([gate]), planned=10)
    assert [result.passed for result in summary.gates] == [met]
    assert summary.passed == met


@pytest.mark.parametrize(
    ("aggregation", "value"),
    [("mean", 0.5), ("pass_rate", 0.25), ("min", 0.0), ("max", 1.0), ("median", 0.5)],
)
def test_a_gate_aggregates_as_it_says(aggregation, value):
    scores = [(0.0, False), (0.4, False), (0.6, False), (1.0, True)]
    outcomes = [
        outcome(str(n), grade=(score, passed, "graded")) for n, (score, passed) in enumerate(scores)
    ]
    gate = GateSpec(metric="g", aggregation=aggregation, op="eq", value=value)
    summary = summed(outcomes, suite_with([gate]))
    assert summary.gates[0].passed, summary.gates


def test_a_gate_on_a_model_that_was_not_run_is_not_judged_and_said():
    gates = [GateSpec(metric="trial", model=model, op="gte", value=0.5) for model in ("other", "m")]
    summary = summed([outcome("a")], suite_with(gates), planned=1)
    assert ([gate.passed for gate in summary.gates], summary.passed) == ([None, True], True)
    assert "not judged" in summary.warnings[0]


def test_a_run_in_which_no_gate_could_be_judged_is_not_green():
    gate = GateSpec(metric="trial", model="other", op="gte", value=0.5)
    summary = summed([outcome("a")], suite_with([gate]), planned=1)
    assert (summary.complete, summary.passed) == (False, False)
    assert "no gate could be judged" in summary.reasons[0]


def test_a_run_with_a_gate_on_nothing_but_errors_is_not_green():
    gates = [
        GateSpec(metric="trial", op="gte", value=0.5, model="m"),
        GateSpec(metric="trial", op="gte", value=0.5, model="n"),
    ]
    good = [outcome(str(n)) for n in range(19)]
    broken = Outcome(sample_id="x", model="n", epoch=0, status="target_error")
    summary = summed([*good, broken], suite_with(gates), planned=20)
    assert [gate.passed for gate in summary.gates] == [True, None]
    assert (summary.complete, summary.passed, summary.warnings) == (False, False, ())
    (reason,) = summary.reasons
    assert reason == (
        "a gate cannot be judged, no trial of it was driven and graded to its end: "
        "mean of trial of n >= 0.5"
    )


def test_a_run_of_errors_alone_says_so_once():
    gate = GateSpec(metric="g", op="gte", value=0.5)
    broken = outcome("x", status="target_error")
    summary = summed([broken], suite_with([gate], max_error_rate=1.0), planned=1)
    assert [gate.passed for gate in summary.gates] == [None]
    assert summary.reasons == ("no trial was driven and graded to its end",)


@pytest.mark.parametrize("aggregation", ["mean", "pass_rate", "median", "max"])
@pytest.mark.parametrize("metric", ["g", "trial"])
@pytest.mark.parametrize("status", ["target_error", "agent_failure", "grading_error"])
def test_what_could_not_be_graded_meets_no_gate_that_wants_little(aggregation, metric, status):
    gate = GateSpec(metric=metric, aggregation=aggregation, op="lte", value=0.4)
    broken = [outcome(str(n), status=status, passed=False) for n in range(3)]
    summary = summed([*broken, outcome("x", passed=False)], suite_with([gate], max_error_rate=1.0))
    assert not summary.gates[0].passed


@pytest.mark.parametrize("op", ["gte", "lte"])
@pytest.mark.parametrize("aggregation", ["mean", "pass_rate", "min"])
def test_a_gate_on_what_no_record_tells_is_missed_not_met(op, aggregation):
    gate = GateSpec(metric="recorded.resolved", aggregation=aggregation, op=op, value=0.5)
    summary = summed([outcome("a")], suite_with([gate]))
    assert [(one.value, one.passed) for one in summary.gates] == [(None, False)]
    assert not summary.passed


def test_what_records_tell_has_numbers_and_decides_nothing():
    told = {"g": (1.0, True, "graded"), "recorded.resolved": (0.0, False, "graded")}
    one = msgspec.structs.replace(outcome("a"), grades=told)
    model = summed([one, outcome("b")]).models["m"]
    assert (model.passed, model.graders["g"].passed) == (2, 2)
    recorded = model.graders["recorded.resolved"]
    assert (recorded.graded, recorded.passed, recorded.errors) == (1, 0, 0)


def test_errors_can_be_left_out_of_the_rates_and_both_bounds_are_told():
    suite = replace(suite_with(max_error_rate=1.0), errors="exclude")
    good = [outcome(str(n)) for n in range(6)]
    bad = [outcome(f"b{n}", passed=False) for n in range(2)]
    broken = [outcome("x", status="target_error"), outcome("y", status="grading_error")]
    summary = summed([*good, *bad, *broken], suite)
    model = summary.models["m"]
    assert summary.errors == "exclude"
    assert (model.trials, model.errors, model.passed) == (10, 2, 6)
    assert (model.pass_rate.value, model.score.mean) == (0.75, 0.75)
    assert (model.pass_rate_if_errors_failed, model.pass_rate_if_errors_passed) == (0.6, 0.8)
    grader = model.graders["g"]
    assert (grader.mean, grader.pass_rate.value, grader.errors) == (0.75, 0.75, 2)


def test_an_agent_that_failed_is_never_left_out():
    suite = replace(suite_with(), errors="exclude")
    late = msgspec.structs.replace(outcome("b", status="agent_failure", passed=False), grades={})
    model = summed([outcome("a"), late], suite).models["m"]
    assert (model.pass_rate.value, model.score.mean, model.graders["g"].mean) == (0.5, 0.5, 0.5)


def test_a_gate_is_about_what_is_in_the_rates():
    gate = GateSpec(metric="g", op="gte", value=0.75)
    outcomes = [outcome("a"), outcome("b"), outcome("c", status="target_error")]
    for errors, value in (("fail", pytest.approx(2 / 3)), ("exclude", 1.0)):
        suite = replace(suite_with([gate], max_error_rate=1.0), errors=errors)
        assert summed(outcomes, suite).gates[0].value == value


@pytest.mark.parametrize("errors", ["fail", "exclude"])
def test_too_many_errors_leave_a_run_incomplete_whatever_they_count(errors):
    suite = replace(suite_with(), errors=errors)
    outcomes = [outcome("a"), outcome("b", status="target_error")]
    assert "ended in errors" in summed(outcomes, suite).reasons[0]


@pytest.mark.parametrize("errors", ["fail", "exclude"])
def test_where_all_trials_are_errors_there_is_no_rate(errors):
    suite = replace(suite_with(), errors=errors)
    model = summed([outcome(str(n), status="target_error") for n in range(3)], suite).models["m"]
    assert (model.pass_rate.value, model.pass_rate.low, model.score.mean) == (None, None, None)
    assert (model.pass_rate_if_errors_failed, model.pass_rate_if_errors_passed) == (0.0, 1.0)


def test_without_errors_there_are_no_bounds():
    model = summed([outcome("a")]).models["m"]
    assert (model.pass_rate_if_errors_failed, model.pass_rate_if_errors_passed) == (None, None)


def test_one_trial_is_told_in_the_singular():
    broken = outcome("x", status="grading_error")
    assert summed([broken], planned=2).reasons == (
        "1 of 2 trials is missing",
        "1 trial could not be graded: a grader broke",
        "1 of 1 trial ended in errors; limits.max_error_rate allows 10 %",
        "no trial was driven and graded to its end",
    )


def broken(sample_id, **fields):
    return outcome(sample_id, grade=(None, None, "error"), **fields)


@pytest.mark.parametrize("status", ["completed", "grading_error"])
def test_a_grader_that_broke_each_time_has_no_rate(status):
    grader = summed([broken(str(n), status=status) for n in range(3)]).models["m"].graders["g"]
    assert (grader.errors, grader.graded, grader.samples) == (3, 0, 0)
    assert (grader.mean, grader.low, grader.high) == (None, None, None)
    assert grader.pass_rate == Interval(value=None)


def test_a_grader_that_broke_now_and_then_counts_errors_as_failures_with_both_bounds():
    grader = summed([outcome("a"), broken("b"), broken("c"), broken("d")]).models["m"].graders["g"]
    assert (grader.pass_rate.value, grader.mean) == (0.25, 0.25)
    assert (grader.pass_rate_if_errors_failed, grader.pass_rate_if_errors_passed) == (0.25, 1.0)


def test_what_the_agent_failed_is_judged_though_the_grader_broke_on_the_rest():
    failed = outcome("a", status="agent_failure", passed=False, grade=(None, None, "missing"))
    grader = summed([failed, broken("b")]).models["m"].graders["g"]
    assert grader.pass_rate.value == 0.0
    assert grader.pass_rate_if_errors_passed == 0.5


def test_errors_beside_trials_that_no_grader_applies_to_have_no_rate():
    none = Outcome(sample_id="b", model="m", epoch=0, status="completed")
    model = summed([none, outcome("a", status="target_error")]).models["m"]
    assert (model.errors, model.ungraded) == (1, 1)
    assert (model.pass_rate.value, model.score.mean) == (None, None)


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        ("grader_broke: KeyError: 'x' (g.py:5)", "broke on 2 trials: KeyError: 'x' (g.py:5)"),
        ("judge_unreachable: no answer", "could not grade 2 trials: judge_unreachable: no answer"),
    ],
)
@pytest.mark.parametrize("role", ["required", "observed"])
def test_a_broken_grader_is_told_once_with_how_and_on_how_many(role, evidence, said):
    decides = role == "required"
    suite = replace(suite_with(), graders=(grader_spec(StubGrader(), "g", role=role),))
    status = "grading_error" if decides else "completed"
    tally = Tally(["g"], ("m",), epochs=1)
    for name in ("a", "b"):
        tally.add(broken(name, status=status))
    summary = summarise(tally, suite, run_id="r", planned=2, broke={"g": evidence})
    told = summary.reasons if decides else summary.warnings
    who = "the grader g" if decides else "the observing grader g"
    assert [line for line in (*summary.reasons, *summary.warnings) if "grader g" in line] == [
        f"{who} {said}"
    ]
    assert told[0] == f"{who} {said}"
    assert summary.broken_graders == (
        BrokenGrader(grader="g", trials=2, evidence=evidence, decides=decides),
    )


def test_of_many_broken_graders_twenty_are_told():
    names = [f"g{n}" for n in range(23)]
    tally = Tally(names, ("m",), epochs=1)
    grades = dict.fromkeys(names, (None, None, "error"))
    tally.add(Outcome(sample_id="a", model="m", epoch=0, status="grading_error", grades=grades))
    reasons = summarise(tally, suite_with(names=names), run_id="r", planned=1).reasons
    assert reasons[19:21] == ("the grader g19 broke on 1 trial", "3 further graders broke")
