import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import ClassVar

import pytest
from fakes.factories import make_sample, make_trajectory
from fakes.stub_graders import Says, StubGrader, grader_spec

from harness.grading.connected_calls import grader_connections, is_connected
from harness.grading.judging import grade_trajectory
from harness.types.errors import GraderError, TargetError
from harness.types.grades import Grade
from harness.types.protocols import GradingContext, Reads
from harness.types.suites import Limits
from harness.types.taxonomy import Taxonomy
from harness.types.trajectories import Usage


@dataclass(frozen=True)
class Asks:
    """Grades as `act(connection)` says; the connection is the list of what has happened."""

    act: object = None
    taxonomy: ClassVar[Taxonomy] = Taxonomy(reference="reference-free", scope="trajectory-level")
    reads: ClassVar[Reads] = "trajectory"

    @classmethod
    @asynccontextmanager
    async def connect(cls, context):
        events = ["opened"]
        yield events
        events.append("closed")
        context.warn(" ".join(events))

    async def grade_with(self, connection, subject):
        return await self.act(connection)


@dataclass(frozen=True)
class CannotConnect(Asks):
    """Has no connection."""

    @classmethod
    @asynccontextmanager
    async def connect(cls, context):
        raise TargetError("nobody there", code="connection_refused", hint="start it")
        yield


@dataclass(frozen=True)
class Leaves(Asks):
    """Ends the program where it should connect."""

    @classmethod
    @asynccontextmanager
    async def connect(cls, context):
        raise SystemExit(3)
        yield


@dataclass(frozen=True)
class CannotClose(Asks):
    """Fails when it is closed."""

    @classmethod
    @asynccontextmanager
    async def connect(cls, context):
        yield []
        raise OSError("stuck")


async def passes(connection):
    connection.append("asked")
    return Grade(score=1.0, evidence="fine", usage=Usage(input_tokens=2))


async def grades_of(*graders):
    specs = [grader_spec(grader, name=f"g{at}") for at, grader in enumerate(graders)]
    return await grade_trajectory(
        specs, make_sample(), make_trajectory(), snapshots={}, limits=Limits()
    )


def context_of(warnings):
    async def serve_script(path):
        raise GraderError("no script", code="judge_refused")

    return GradingContext(
        concurrency=3, max_wait_seconds=1.0, serve_script=serve_script, warn=warnings.append
    )


async def test_one_connection_serves_all_graders_of_a_class_and_is_closed_at_the_end():
    warnings = []
    async with grader_connections(context_of(warnings)):
        for _ in range(2):
            await grades_of(Asks(passes), Asks(passes))
        assert warnings == []
    assert warnings == ["opened asked asked asked asked closed"]


async def test_nothing_is_opened_where_nothing_is_asked():
    warnings = []
    async with grader_connections(context_of(warnings)):
        await grades_of(Says("K41"))
    assert warnings == []


async def test_outside_a_run_a_grader_has_a_connection_of_its_own():
    grade = (await grades_of(Asks(passes)))["g0"]
    assert (grade.score, grade.passed, grade.usage) == (1.0, True, Usage(input_tokens=2))


async def raises_grader_error(_):
    raise GraderError("cannot judge", code="judge_prompt")


async def raises(_):
    raise ValueError("broken")


async def leaves(_):
    raise SystemExit(3)


async def returns_no_grade(_):
    return 0.5


async def is_out_of_range(_):
    return Grade(score=9.0)


@pytest.mark.parametrize(
    ("grader", "evidence"),
    [
        (Asks(raises_grader_error), "judge_prompt: cannot judge"),
        (Asks(raises), "grader_broke: ValueError: broken"),
        (Asks(leaves), "grader_broke: SystemExit: 3"),
        (Asks(returns_no_grade), "grader_broke: the grader returned 0.5 (float)"),
        (Asks(is_out_of_range), "grader_broke: returned the score 9.0"),
        (Leaves(passes), "grader_broke: SystemExit: 3"),
        (CannotConnect(passes), "judge_unreachable: nobody there; start it"),
    ],
)
async def test_whatever_goes_wrong_is_the_grade_and_touches_no_other(grader, evidence):
    warnings = []
    async with grader_connections(context_of(warnings)):
        for _ in range(2):
            grades = await grades_of(grader, Says("K41"), Asks(passes))
            assert grades["g0"].status == "error"
            assert grades["g0"].evidence.startswith(evidence)
            assert [grades[name].passed for name in ("g1", "g2")] == [True, True]


async def test_a_connection_that_does_not_close_is_a_warning():
    warnings = []
    async with grader_connections(context_of(warnings)):
        await grades_of(CannotClose(passes))
    (warning,) = warnings
    assert "OSError: stuck" in warning


async def test_graders_that_wait_run_beside_each_other_and_after_those_that_do_not():
    order = []
    met = asyncio.Barrier(2)

    async def meet(_):
        order.append("asked")
        await met.wait()
        return Grade(score=1.0)

    def at_once(subject):
        order.append("at once")
        return Grade(score=1.0)

    grades = await grades_of(Asks(meet), StubGrader(at_once), Asks(meet))
    assert all(grade.passed for grade in grades.values())
    assert order == ["at once", "asked", "asked"]


async def test_a_cancelled_grading_stops_at_once_and_leaves_the_connection_to_others():
    started = asyncio.Event()

    async def hang(_):
        started.set()
        await asyncio.Event().wait()

    warnings = []
    async with grader_connections(context_of(warnings)):
        task = asyncio.create_task(grades_of(Asks(hang)))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await grades_of(Asks(passes)))["g0"].passed
    assert warnings == ["opened asked closed"]


def test_graders_are_told_apart_by_what_they_can_do():
    assert is_connected(Asks(passes))
    assert not is_connected(Says("x"))
