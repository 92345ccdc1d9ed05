"""Laws of stored runs."""

import asyncio
import tempfile
from pathlib import Path

from fakes.stub_graders import Breaks, Says, grader_spec
from fakes.suites import fake_suite
from hypothesis import given, settings
from hypothesis import strategies as st

import harness

ANSWERS = st.lists(st.text(max_size=8), min_size=1, max_size=6)
GRADERS = st.lists(
    st.sampled_from([Says("a"), Says(""), Says("x"), Breaks()]), min_size=1, max_size=3
)


def grades_of(run):
    return {trial.sample_id: (trial.status, trial.passed, trial.grades) for trial in run.trials()}


@settings(max_examples=25, deadline=None)
@given(ANSWERS, GRADERS)
def test_grading_a_stored_run_gives_the_grades_of_the_run_and_twice_the_same(answers, graders):
    specs = tuple(grader_spec(grader, f"g{n}") for n, grader in enumerate(graders))
    suite = fake_suite(
        lambda a, text: answers[int(a.sample.id[1:])], samples=len(answers), graders=specs
    )
    with tempfile.TemporaryDirectory() as place:
        out = Path(place)
        run = asyncio.run(harness.run_async(suite, out=out))
        once = asyncio.run(harness.grade_async(run, suite, out=out))
        twice = asyncio.run(harness.grade_async(once, suite, out=out))
        assert grades_of(run) == grades_of(once) == grades_of(twice)
        assert run.summary.models["m"].graders == twice.summary.models["m"].graders
