"""Options that cannot work, from the suite to the exit code: such a run is never green."""

import pytest
from fakes.factories import make_trajectory

import harness
from harness.commands.run_reporting import exit_code
from harness.running.recording import RunResult
from harness.types.events import UserMessage

BAD = "(sorry|dunno"
SAID = make_trajectory([UserMessage(text="x"), "dunno"])

BROKEN = {
    "lte": {"type": "output-matches", "op": "lte", "threshold": 0, "config": {"pattern": BAD}},
    "matches": {"type": "output-matches", "config": {"pattern": BAD}},
    "not-matches": {"type": "output-not-matches", "config": {"pattern": BAD}},
    "negate": {"type": "output-matches", "config": {"pattern": BAD, "negate": True}},
    "transcript": {"type": "transcript-not-matches", "config": {"pattern": BAD}},
    "invented": {"type": "no-invented-values", "config": {"pattern": BAD}},
    "disallowed": {"type": "tool-calls", "config": {"disallowed": [{"name": BAD}]}},
    "failure": {"type": "tool-success-rate", "config": {"failure_pattern": BAD}},
    "schema": {"type": "json-schema", "config": {"schema": {"type": "no-type"}}},
    "path": {
        "type": "state-contains",
        "config": {"fixture": "agent_state", "path": "orders[", "expected": 1},
    },
    "empty": {"type": "output-not-contains", "config": {"substring": ""}},
    "extractor": {
        "kind": "tool",
        "function": "contains",
        "extractor": "pattern",
        "extractor_config": {"pattern": BAD},
    },
}


def graded(tmp_path, graders, source=SAID, **more):
    document = {
        "name": "s",
        "samples": [{"id": "p", "input": "x", "ground_truth": "dun"}],
        "graders": graders,
        **more,
    }
    suite = harness.Suite.from_mapping(document, tmp_path)
    source = {"p": source} if source is SAID else source
    return suite, harness.grade(source, suite, out=tmp_path / "runs")


def code_of(run):
    return exit_code(RunResult(folder=run.folder, summary=run.summary, interrupted=False))


@pytest.mark.parametrize("name", BROKEN)
def test_the_grade_fails_and_the_run_cannot_be_judged(tmp_path, name):
    suite, run = graded(tmp_path, {"it": BROKEN[name]})
    assert len(suite.warnings) == 1
    assert suite.graders[0].fault
    (trial,) = run.trials()
    grade = trial.grades["it"]
    if grade.status == "graded":
        assert (grade.score, grade.passed, trial.passed) == (0.0, False, False)
        assert grade.evidence
    assert (run.passed, code_of(run)) == (False, 3)
    assert any(reason.startswith("the grader it cannot work: ") for reason in run.summary.reasons)


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("op", ["lte", "gte"])
def test_no_gate_is_met_by_such_a_grader_that_observes(tmp_path, name, op):
    gates = [{"metric": "it", "op": op, "value": 0}]
    ok = {"type": "output-contains", "config": {"substring": "dun"}}
    graders = {"it": {**BROKEN[name], "role": "observed"}, "ok": ok}
    _, run = graded(tmp_path, graders, gates=gates)
    assert [gate.passed for gate in run.summary.gates] == [False]
    assert code_of(run) == 3


@pytest.mark.parametrize("name", BROKEN)
def test_one_that_only_observes_is_a_warning(tmp_path, name):
    ok = {"type": "output-contains", "config": {"substring": "dun"}}
    suite, run = graded(tmp_path, {"it": {**BROKEN[name], "role": "observed"}, "ok": ok})
    assert len(suite.warnings) == 1
    assert (run.passed, code_of(run)) == (True, 0)


@pytest.mark.parametrize("name", [name for name in BROKEN if name != "extractor"])
def test_inside_a_combination_it_refuses_the_suite(tmp_path, name):
    graders = {"it": {"type": "not", "config": {"grader": BROKEN[name]}}}
    with pytest.raises(harness.SuiteError):
        graded(tmp_path, graders)


def test_a_broken_grader_of_a_row_stops_the_run_too(tmp_path):
    sample = {"id": "p", "input": "x", "graders": {"own": BROKEN["lte"]}}
    ok = {"type": "output-contains", "config": {"substring": "dun"}}
    _, run = graded(tmp_path, {"ok": ok}, samples=[sample])
    assert code_of(run) == 3
    assert run.summary.reasons[0].startswith("the grader own cannot work: config.pattern: ")


def test_a_weight_that_reaches_the_threshold_lets_no_trial_pass(tmp_path):
    ok = {"type": "output-contains", "config": {"substring": "dun"}}
    graders = {"it": BROKEN["matches"], "ok": ok}
    _, run = graded(tmp_path, graders, scoring={"threshold": 0.1})
    (trial,) = run.trials()
    assert (trial.passed, trial.score, code_of(run)) == (False, 0.5, 3)


def test_stored_grades_of_a_grader_that_cannot_work_do_not_hold(tmp_path):
    _, first = graded(tmp_path, {"it": BROKEN["lte"]})
    _, again = graded(tmp_path, {"it": BROKEN["lte"]}, first)
    assert code_of(again) == 3


RUBRIC = "Is {submission} {tone}?"


def test_a_row_that_cannot_be_graded_is_a_warning_with_its_place(tmp_path):
    rows = '{"id": "p", "input": "x"}\n{"id": "q", "input": "x", "rubric_vars": {"tone": "kind"}}\n'
    (tmp_path / "rows.jsonl").write_text(rows, encoding="utf-8")
    (tmp_path / "agent.py").write_text("def act(text):\n    return 'dunno'\n", encoding="utf-8")
    (tmp_path / "judge.yaml").write_text(
        'models: {j: [{say: \'{{"score": 1, "rationale": "ok"}}\'}]}\n', encoding="utf-8"
    )
    judge = {
        "type": "model_judge",
        "config": {"prompt": RUBRIC, "model": "scripted/j", "script": "judge.yaml"},
    }
    document = {
        "name": "s",
        "dataset": "rows.jsonl",
        "target": {"kind": "python", "agent": "agent.py:act"},
        "graders": {"j": judge},
    }
    suite = harness.Suite.from_mapping(document, tmp_path)
    run = harness.run(suite, out=tmp_path / "runs")
    again = harness.grade(run, suite, out=tmp_path / "again")
    for one, place in ((run, "rows.jsonl:1: rubric_vars"), (again, "samples.p.rubric_vars")):
        warned = [text for text in one.summary.warnings if place in text]
        assert len(warned) == 1, one.summary.warnings
        statuses = {trial.sample_id: trial.grades["j"].status for trial in one.trials()}
        assert statuses == {"p": "error", "q": "graded"}


def test_a_sample_without_a_fault_is_no_warning(tmp_path):
    ok = {"type": "output-contains", "config": {"substring": "dun"}}
    _, run = graded(tmp_path, {"ok": ok})
    assert run.summary.warnings == ()
