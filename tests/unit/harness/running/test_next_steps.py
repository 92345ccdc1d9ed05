"""What to do next with a run that could not be judged wholly."""

import pytest
from fakes.explained_runs import failed_trial, make_summary, model_summary, store_run

from harness.measuring.faulty_graders import cannot_work
from harness.running.budget_amounts import ended_by
from harness.running.next_steps import next_step
from harness.running.stored_summaries import UNDER_WAY
from harness.types.suites import Limits
from harness.types.summaries import BrokenGrader

GO_ON = "regrade run --resume r"
AGAIN = f"{GO_ON} --retry-errors"


def broke(evidence="grader_broke: KeyError: 'score' (g.py:5)", grader="g", *, decides=True):
    return BrokenGrader(grader=grader, trials=2, evidence=evidence, decides=decides)


def ended_in(code):
    models = {"m": model_summary(errors=1)}
    failed = failed_trial(status="target_error", grader=None, evidence=f"{code}: so")
    return {"models": models, "first_failures": (failed,), "reasons": ("1 of 2 ended in errors",)}


@pytest.fixture
def told(tmp_path, monkeypatch):
    def tell(manifest=None, **fields):
        folder = tmp_path / "r"
        store_run(folder, (), **{"suite_file": "s.yaml", **(manifest or {})})
        step = next_step(folder, make_summary(**{"complete": False, **fields}))
        return None if step is None else (step.words, step.command)

    monkeypatch.chdir(tmp_path)
    return tell


@pytest.mark.parametrize(
    ("fields", "words", "command"),
    [
        ({"planned": 9, "reasons": ("interrupted",)}, "Go on with it", GO_ON),
        (
            ended_in("overloaded"),
            "Wait until the provider answers again, then go on with it",
            AGAIN,
        ),
        (
            ended_in("unauthorized"),
            "Mend what the provider refuses (unauthorized), then go on with it",
            AGAIN,
        ),
        (
            ended_in("fixture_broke"),
            "Mend what the suite brings along (fixture broke), then go on with it",
            AGAIN,
        ),
        (ended_in("of_later"), "Mend the target (of later), then go on with it", AGAIN),
        ({"broken_graders": (broke(),)}, "Mend the grader g (g.py:5), then go on with it", AGAIN),
        (
            {"broken_graders": (broke(decides=False, grader="tone"), broke())},
            "Mend the graders g (g.py:5), tone (g.py:5), then go on with it",
            AGAIN,
        ),
        (
            {"complete": True, "broken_graders": (broke(decides=False),)},
            "Mend the grader g (g.py:5), then go on with it",
            AGAIN,
        ),
        (
            {"broken_graders": (broke("judge_unreachable: no answer"),)},
            "Wait until the judge answers again, then go on with it",
            AGAIN,
        ),
        (
            {"reasons": (f"{cannot_work('g')}invalid pattern",)},
            "Mend the grader g in the suite, then go on with it",
            GO_ON,
        ),
        (
            {"planned": 9, "reasons": (f"{ended_by(Limits(max_cost_usd=5.0))}no room",)},
            "Raise limits.max_cost_usd 5.0 in the suite, then go on with it",
            GO_ON,
        ),
    ],
)
def test_the_cause_is_named_first_and_then_the_command(told, fields, words, command):
    assert told(**fields) == (words, command)


@pytest.mark.parametrize(
    "fields",
    [
        {"complete": True},
        {"reasons": ("it was not compared with its baseline: it is gone",)},
        {"planned": 9, "reasons": (f"{UNDER_WAY}: process 7",)},
    ],
)
def test_where_nothing_can_be_made_whole_there_is_no_step(told, fields):
    assert told(**fields) is None


def test_a_suite_made_in_python_has_no_command(told):
    python = {"suite_file": None}
    assert told(python, planned=9) is None
    step = told(python, broken_graders=(broke(),))
    assert step == ("Mend the grader g (g.py:5), then go on with it", None)


def test_what_was_graded_is_graded_again_without_another_look_at_its_source(told):
    graded = {"graded_from": "another", "parameters": ("A=1",)}
    assert told(graded, broken_graders=(broke(),), **ended_in("overloaded")) == (
        "Mend the grader g (g.py:5), then grade it again",
        "regrade grade r --param=A=1",
    )


def test_what_was_not_graded_wholly_is_graded_by_the_command_that_began_it(told):
    command = ("regrade", "grade", "latest", "--suite", "a b.yaml")
    graded = {"graded_from": "another", "command": command}
    assert told(graded, planned=9) == (
        "Grade it again",
        "regrade grade another --suite 'a b.yaml'",
    )
    assert told({**graded, "command": ("pytest",)}, planned=9) is None


def test_a_run_whose_manifest_cannot_be_read_has_no_step(tmp_path):
    assert next_step(tmp_path, make_summary(complete=False, planned=9)) is None
