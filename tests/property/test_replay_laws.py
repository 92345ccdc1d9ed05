"""Laws of stored runs."""

import asyncio
import tempfile
from pathlib import Path

import msgspec
import yaml
from fakes.record_files import SUITE, chat, write_lines
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


VALUES = st.sampled_from(["K41", "", "K", "0"])
RECORDS = st.lists(
    st.builds(
        chat,
        prompt=st.sampled_from(["Where?", "When?"]),
        value=VALUES,
        says=st.none() | VALUES,
        id=st.sampled_from(["a", "b"]),
        model=st.sampled_from(["x", "y"]),
        resolved=st.sampled_from([True, False, None, 0.5, 7, "maybe", {"a": []}]),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=25, deadline=None)
@given(RECORDS)
def test_records_of_another_tool_are_graded_alike_each_time_and_none_is_lost(records):
    suite = harness.Suite.from_mapping(yaml.safe_load(SUITE))
    with tempfile.TemporaryDirectory() as place:
        out = Path(place)
        path = write_lines(out / "records.jsonl", records)
        once = asyncio.run(harness.grade_async(path, suite, out=out))
        twice = asyncio.run(harness.grade_async(path, suite, out=out))
        again = asyncio.run(harness.grade_async(once, suite, out=out))
        assert stored_grades(once) == stored_grades(twice) == stored_grades(again)
        assert len(stored_grades(once)) == len(records) == once.manifest.planned


def stored_grades(run):
    return {
        (trial.sample_id, trial.model, trial.epoch): msgspec.json.encode(trial.grades)
        for trial in run.trials()
    }
