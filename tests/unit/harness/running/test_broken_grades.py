"""How graders broke is told in every summary of a run, also of one that passes."""

import pytest
from fakes.agents import FakeTarget
from fakes.stored_trials import stored_trial
from fakes.stub_graders import Breaks, Says, grader_spec
from fakes.suites import fake_suite

from harness.running.broken_grades import BrokenGrades
from harness.running.resuming import Resume
from harness.running.run_options import RunOptions
from harness.running.runs import execute
from harness.running.stored_summaries import summary_of
from harness.types.grades import Grade


def broken(evidence, name="g"):
    return stored_trial(grades={name: Grade(status="error", evidence=evidence)})


def test_the_first_of_the_plan_is_kept_in_whichever_order_trials_end():
    grades = BrokenGrades()
    for index in (2, 1, 3):
        grades.add(index, broken(f"at {index}"))
    assert grades.first() == {"g": "at 1"}


def test_the_place_is_kept_of_a_long_message_and_what_records_say_is_not_ours():
    grades = BrokenGrades()
    grades.add(0, broken(f"{'x' * 900}\x1b (g.py:5)"))
    grades.add(0, broken("the other tool broke", "recorded.g"))
    (said,) = grades.first().values()
    assert said.endswith("… (g.py:5)")
    assert len(said) < 600


def suite_with(role):
    graders = (grader_spec(Says("ok")), grader_spec(Breaks(), "tone", role=role))
    return fake_suite(FakeTarget(lambda a, t: "ok"), graders=graders)


@pytest.mark.parametrize("role", ["required", "observed"])
async def test_a_run_says_it_and_so_do_a_resumed_and_a_killed_one(tmp_path, role):
    result = await execute(suite_with(role), RunOptions(out=tmp_path))
    resumed = await execute(
        suite_with(role), RunOptions(out=tmp_path, epochs=2), resume=Resume(folder=result.folder)
    )
    (result.folder / "summary.json").unlink()
    killed = summary_of(result.folder)
    for summary, trials in ((result.summary, 3), (resumed.summary, 6), (killed, 6)):
        (told,) = summary.broken_graders
        assert (told.grader, told.trials, told.decides) == ("tone", trials, role == "required")
        assert told.evidence.startswith("grader_broke: RuntimeError: broken on purpose (stub_gra")
        said = f"grader tone broke on {trials} trials: RuntimeError: broken on purpose (stub_grade"
        assert sum(said in line for line in (*summary.reasons, *summary.warnings)) == 1
