"""Why a run is as it is, read from its directory."""

import random

import pytest
from fakes.explained_runs import failed_trial, make_summary, store_run
from fakes.factories import make_call, make_trajectory
from fakes.stored_trials import stored_trial

from harness.running import failing_trials
from harness.running.explaining import explain
from harness.running.stored_summaries import summary_of
from harness.types.events import UserMessage
from harness.types.grades import Grade
from harness.types.trajectories import Step, Trajectory, Turn
from harness.types.trials import Failure

ASKED = UserMessage(text="Find it.")


def failing(sample_id, *events, grades=("g",), **fields):
    trajectory = make_trajectory([ASKED, *(events or ["It is there."])])
    made = {name: Grade(score=0.0, passed=False, evidence=f"{name} says no") for name in grades}
    return stored_trial(sample_id, passed=False, trajectory=trajectory, grades=made, **fields)


def passing(sample_id, **fields):
    trajectory = make_trajectory([ASKED, *make_call(), "It is K41."])
    return stored_trial(sample_id, trajectory=trajectory, **fields)


def explained(tmp_path, *trials, **manifest):
    folder = store_run(tmp_path / "run", trials, **manifest)
    return explain(folder, summary_of(folder))


def test_failing_trials_are_grouped_and_counted(tmp_path):
    error = Failure(code="overloaded", message="503")
    down = stored_trial("d", passed=None, status="target_error", error=error)
    told = explained(tmp_path, failing("a"), failing("b"), passing("c"), down)
    assert [(one.words, one.trials, one.origin) for one in told.groups] == [
        ("calls no tool, where passing trials call `lookup`", 2, "agent"),
        ("overloaded: …", 1, "provider"),
    ]
    assert (told.trials, told.failing, told.looked_at) == (4, 3, 3)
    assert told.origins == {"agent": 2, "provider": 1}


def test_a_trial_of_the_same_model_is_held_against_before_one_of_another(tmp_path):
    other = stored_trial("a", model="another", trajectory=make_trajectory([ASKED, "Oh."]))
    models = ("m", "another")
    told = explained(tmp_path, failing("a"), other, passing("a", epoch=1), models=models)
    assert told.groups[0].words == "skips `lookup`"


def test_where_no_trial_passed_each_says_it_itself(tmp_path):
    told = explained(tmp_path, failing("a"), failing("b", *make_call(), "It is rt_12345."))
    assert {one.words for one in told.groups} == {
        "g says no",
        "says an identifier that no tool and no user gave it",
    }


def test_the_order_of_the_log_changes_nothing(tmp_path):
    trials = [failing(f"s{n}", epoch=e) for n in range(6) for e in range(2)]
    trials += [passing(f"s{n}", epoch=2) for n in range(0, 6, 2)]
    told = []
    for seed in range(3):
        random.Random(seed).shuffle(trials)
        folder = store_run(tmp_path / str(seed), trials)
        told.append(explain(folder, make_summary(models=summary_of(folder).models)))
    texts = [repr(one).replace(str(tmp_path / str(seed)), "RUN") for seed, one in enumerate(told)]
    assert texts[0] == texts[1] == texts[2]


def test_a_grader_that_only_observes_is_no_reason(tmp_path):
    judging = {"graders": {"seen": {"role": "observed"}, "g": {"role": "required"}}}
    trial = failing("a", grades=("seen", "g"))
    assert explained(tmp_path, trial, judging=judging).groups[0].grader == "g"


def test_a_grader_that_fails_in_trials_that_pass_is_named_last(tmp_path):
    lenient = {"seen": Grade(score=0.0, passed=False, evidence="no")}
    trials = [failing("a", grades=("seen", "g")), stored_trial("b", grades=lenient)]
    assert explained(tmp_path, *trials).groups[0].grader == "g"


def test_trials_beyond_the_bound_are_spread_evenly_and_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(failing_trials, "MOST_LOOKED_AT", 10)
    told = explained(tmp_path, *(failing(f"s{n:02}") for n in range(40)))
    assert (told.failing, told.looked_at) == (40, 10)
    assert told.groups[0].samples == tuple(f"s{n:02}" for n in range(0, 40, 4))


def test_three_are_shown_with_what_the_summary_knows_of_them(tmp_path):
    folder = store_run(tmp_path / "run", [failing(f"s{n}") for n in range(9)])
    known = failed_trial("s0", wanted="K41", evidence="g says no")
    models = summary_of(folder).models
    told = explain(folder, make_summary(models=models, first_failures=(known,)))
    assert [one.trial.sample_id for one in told.shown] == ["s0", "s1", "s2"]
    assert told.shown[0].trial.wanted == "K41"
    assert told.shown[0].commands[0].endswith("--model=m s0")


@pytest.mark.parametrize("trial", [passing, failing])
def test_the_model_that_really_answered_is_told(tmp_path, trial):
    made = trial("a")
    turn = Turn(events=made.trajectory.turns[0].events, steps=(Step(model="m-2031"), Step()))
    folder = store_run(tmp_path / "run", [changed(made, Trajectory(turns=(turn,)))])
    told = explain(folder, summary_of(folder))
    assert told.models[0].served == ("m-2031",)


def changed(trial, trajectory):
    return stored_trial(
        trial.sample_id, passed=trial.passed, grades=trial.grades, trajectory=trajectory
    )


def test_a_run_without_a_trial_is_explained(tmp_path):
    told = explained(tmp_path)
    assert (told.state, told.groups, told.trials) == ("incomplete", (), 0)
    assert "it ended before its summary was written" in told.verdict


@pytest.mark.parametrize("content", [b"{}\n{}\n", None])
def test_of_a_log_that_cannot_be_read_the_summary_is_told(tmp_path, content):
    folder = store_run(tmp_path / "run", [failing("a")])
    if content is None:
        (folder / "trials.jsonl").unlink()
        (folder / "outcomes.jsonl").unlink()
    else:
        (folder / "trials.jsonl").write_bytes(content)
    told = explain(folder, make_summary(first_failures=(failed_trial("a"),)))
    assert [one.words for one in told.groups] == ["g"]
    assert "trials.jsonl" in told.warnings[-1]


def test_a_torn_last_line_is_no_trial(tmp_path):
    folder = store_run(tmp_path / "run", [failing("a"), failing("b")])
    log = folder / "trials.jsonl"
    log.write_bytes(log.read_bytes()[:-20])
    assert explain(folder, summary_of(folder)).groups[0].samples == ("a",)


def test_a_grader_that_cannot_work_is_the_suites_fault(tmp_path):
    folder = store_run(tmp_path / "run", [failing("a")])
    models = summary_of(folder).models
    reasons = ("the grader g cannot work: config.pattern: invalid pattern",)
    told = explain(folder, make_summary(models=models, complete=False, reasons=reasons))
    assert told.origins == {"suite": 1}
    other = make_summary(models=models, complete=False, reasons=("the grader h cannot work: x",))
    assert explain(folder, other).origins == {"agent": 1}


def test_ungraded_trials_are_no_failures(tmp_path):
    told = explained(tmp_path, stored_trial("a", passed=None), failing("b"))
    assert (told.failing, told.looked_at) == (1, 1)
    assert told.shown[0].trial.said == "It is there."
