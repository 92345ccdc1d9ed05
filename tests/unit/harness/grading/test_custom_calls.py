import asyncio
import sys
import threading

import pytest
from fakes.factories import make_call, make_custom, make_sample, make_trajectory

from harness.grading.judging import grade_trajectory
from harness.types.events import UserMessage
from harness.types.grades import Grade
from harness.types.suites import Limits


async def judged(function, *, sample=None, trajectory=None, snapshots=None, **fields):
    seconds = fields.pop("seconds", 30.0)
    spec = make_custom(function, **fields)
    grades = await grade_trajectory(
        [spec],
        sample or make_sample(),
        trajectory or make_trajectory(),
        snapshots=snapshots or {},
        limits=Limits(grader_seconds=seconds),
    )
    return grades[spec.name]


async def test_a_function_of_sample_and_submission():
    def same(sample, submission):
        return submission == "It is K41." and sample.id == "s1"

    made = await judged(same)
    assert (made.score, made.passed, made.submission) == (1.0, True, "It is K41.")


async def test_an_async_function():
    async def same(sample, submission):
        await asyncio.sleep(0)
        return 0.5

    assert (await judged(same, threshold=0.5)).passed is True


@pytest.mark.parametrize("kind", ["async", "returns a coroutine"])
async def test_an_async_function_that_blocks_overruns_and_stops_nobody(kind):
    release = threading.Event()

    async def blocks(trajectory):
        release.wait()

    def returns(trajectory):
        return blocks(trajectory)

    async def good(trajectory):
        await asyncio.sleep(0.01)
        return 1.0

    slow = [
        asyncio.ensure_future(judged(blocks if kind == "async" else returns, seconds=1.0))
        for _ in range(3)
    ]
    ticks = 0
    made = [await judged(good, seconds=1.0) for _ in range(2)]
    while not all(one.done() for one in slow):
        await asyncio.sleep(0.02)
        ticks += 1
    assert ticks > 5
    assert [one.score for one in made] == [1.0, 1.0]
    assert {one.result().details["code"] for one in slow} == {"grader_timeout"}
    release.set()


@pytest.mark.parametrize("first", [True, False])
async def test_a_function_of_the_trajectory_needs_no_submission(first):
    def ahead(trajectory, sample):
        return len(trajectory.turns) == 1

    def behind(sample, trajectory, k=0):
        return len(trajectory.turns) == 1 and k == 0

    made = await judged(ahead if first else behind)
    assert (made.passed, made.submission) == (True, None)


async def test_parameters_are_filled_by_name():
    def asks(submission, *, database, config, sample, **rest):
        return {"score": 1, "seen": [database, config, rest]}

    made = await judged(asks, snapshots={"database": {"rows": 3}}, config={"limit": 5})
    assert made.details == {"seen": [{"rows": 3}, {"limit": 5}, {}]}


async def test_a_parameter_with_a_default_is_filled_where_there_is_something_to_fill_it_with():
    def asks(submission, database=None, other=7, config=None):
        return {"score": 1, "seen": [database, other, config]}

    made = await judged(asks, snapshots={"database": {"rows": 3}})
    assert made.details == {"seen": [{"rows": 3}, 7, {}]}


async def test_a_parameter_that_nothing_fills_is_an_error_that_names_it():
    def asks(sample, submission, databse):
        return 1.0

    made = await judged(asks, snapshots={"database": {}})
    assert made.status == "error"
    assert "asks asks for 'databse'" in made.evidence


async def test_what_a_function_changes_in_place_reaches_nobody():
    def spoils(sample, submission, trajectory, database):
        sample.metadata.clear()
        database.clear()
        trajectory.turns[0].events[1].arguments.update(spoilt=True)
        return True

    sample, snapshots = make_sample(metadata={"a": [1]}), {"database": {"rows": 3}}
    trajectory = make_trajectory()
    made = await judged(spoils, sample=sample, trajectory=trajectory, snapshots=snapshots)
    assert made.passed is True
    assert (sample.metadata, snapshots) == ({"a": [1]}, {"database": {"rows": 3}})
    assert trajectory == make_trajectory()


async def test_an_exception_is_told_with_its_place_in_the_users_file():
    def breaks(sample, submission):
        return {}["expected"]

    made = await judged(breaks)
    line = breaks.__code__.co_firstlineno + 1
    assert made.status == "error"
    assert made.evidence == f"grader_broke: KeyError: 'expected' (test_custom_calls.py:{line})"
    assert "in breaks" in made.details["traceback"]


async def test_an_exception_whose_message_cannot_be_read_is_reported_all_the_same():
    class MuteError(Exception):
        def __str__(self):
            raise ValueError

    def breaks(sample, submission):
        raise MuteError

    assert "MuteError: (its message cannot be shown)" in (await judged(breaks)).evidence


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt(), asyncio.CancelledError()])
@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_nothing_a_function_raises_ends_the_run(error, kind):
    def leaves(sample, submission):
        raise error

    async def leaves_async(sample, submission):
        raise error

    made = await judged(leaves if kind == "sync" else leaves_async)
    assert made.status == "error"
    assert type(error).__name__ in made.evidence


async def test_sys_exit_is_an_error_of_the_grader():
    def leaves(sample, submission):
        sys.exit("done")

    assert "SystemExit: done" in (await judged(leaves)).evidence


async def test_an_async_function_that_overruns_is_cancelled():
    cancelled = asyncio.Event()

    async def hangs(sample, submission):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    made = await judged(hangs, seconds=0.05)
    assert made.details["code"] == "grader_timeout"
    assert cancelled.is_set()


async def test_an_async_function_that_will_not_be_cancelled_is_left_to_itself():
    release = asyncio.Event()

    async def clings(sample, submission):
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    made = await judged(clings, seconds=0.05)
    release.set()
    assert made.details["code"] == "grader_timeout"


async def test_a_sync_function_may_give_back_an_awaitable():
    async def later():
        return 1.0

    def starts(sample, submission):
        return later()

    assert (await judged(starts)).passed is True


async def test_an_object_that_can_be_called_is_a_grader():
    class Judge:
        __name__ = "judge"
        __code__ = (lambda sample, submission: 0).__code__

        async def __call__(self, sample, submission):
            return Grade(score=1.0, evidence="called")

    assert (await judged(Judge())).evidence == "called"


async def test_a_function_may_search_patterns_for_as_long_as_it_may_run():
    from harness.system.patterns import search  # noqa: PLC0415  (as a user's file would)

    def searches(sample, submission):
        return search("(?:x|xx)+y", "x" * 5000) is None

    made = await judged(searches, seconds=0.2)
    assert made.status == "error"
    assert made.details["code"] in ("pattern_timeout", "grader_timeout")


@pytest.mark.parametrize("value", [None, 3, b"x", ["x"]])
async def test_an_extractor_that_gives_no_text_is_an_error(value):
    def extracts(trajectory):
        return value

    def grades(sample, submission):
        return True

    made = await judged(grades, extractor=extracts)
    assert made.status == "error"
    assert "an extractor returns a text" in made.evidence


async def test_an_extractor_may_be_async_and_see_its_config():
    async def extracts(trajectory):
        return trajectory.turns[0].events[-1].text.upper()

    def grades(sample, submission):
        return submission == "IT IS K41."

    assert (await judged(grades, extractor=extracts)).passed is True


async def test_an_empty_text_of_an_extractor_is_a_failure_that_says_so():
    def extracts(trajectory):
        return ""

    def grades(sample, submission):
        return True

    made = await judged(grades, extractor=extracts)
    assert (made.status, made.passed) == ("graded", False)
    assert made.evidence == "Empty submission - extractor found no content"


async def test_each_turn_is_given_with_its_own_sample():
    def same(sample, submission):
        return sample.ground_truth == submission

    asked = UserMessage(text="q")
    sample = make_sample(input=("a?", "b?"), ground_truth=("a", "b"))
    trajectory = make_trajectory([asked, *make_call(), "a"], [asked, "b"])
    assert (await judged(same, sample=sample, trajectory=trajectory)).evidence == "2/2 passed: ✓ ✓"
