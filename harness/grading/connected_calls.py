"""Calls of graders that ask somebody else: what they share is opened once a run.

A run opens and closes the connections. Whatever goes wrong becomes a grade.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeGuard

from harness.grading.error_grades import error_grade, grade_of_exception
from harness.grading.plugin_calls import grade_of
from harness.system.texts import error_line
from harness.types.errors import GraderError, TargetError
from harness.types.grades import Grade
from harness.types.protocols import ConnectedGrader, GradingContext, Subject

_CLOSE_SECONDS = 10.0

_opened: ContextVar["_Connections | None"] = ContextVar("grader_connections", default=None)


@asynccontextmanager
async def grader_connections(context: GradingContext) -> AsyncIterator[None]:
    """Let connected graders share what they open; it is closed when this context ends."""
    connections = _Connections(context)
    token = _opened.set(connections)
    try:
        yield
    finally:
        _opened.reset(token)
        await connections.close()


def is_connected(grader: Any) -> TypeGuard[ConnectedGrader]:
    """Say whether a grader is called over a connection."""
    return hasattr(grader, "grade_with")


async def call_connected(grader: ConnectedGrader, subject: Subject) -> Grade:
    """Call a connected grader; outside `grader_connections` it has a connection of its own."""
    connections = _opened.get()
    if connections is None:
        async with grader_connections(_on_its_own()):
            return await call_connected(grader, subject)
    try:
        connection = await connections.of(type(grader))
        return grade_of(await grader.grade_with(connection, subject))
    except GraderError as error:
        return error_grade(error.code, str(error))
    except TargetError as error:
        return error_grade("judge_unreachable", error.line)
    except (Exception, SystemExit) as error:  # noqa: BLE001  (kept as the grade)
        return grade_of_exception(error)


def _on_its_own() -> GradingContext:
    async def serve_script(_: Path | None) -> str:
        raise GraderError("scripted models are served while a run lasts", code="judge_refused")

    return GradingContext(
        concurrency=1, max_wait_seconds=0.0, serve_script=serve_script, warn=lambda _: None
    )


class _Connections:
    """One connection for each class of graders, each opened and closed by a task of its own."""

    def __init__(self, context: GradingContext) -> None:
        self._context = context
        self._opened: dict[type[Any], asyncio.Future[Any]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._ended = asyncio.Event()

    async def of(self, kind: type[Any]) -> Any:
        """Return the connection of a class; raises what opening it raised, every time."""
        if kind not in self._opened:
            self._opened[kind] = asyncio.get_running_loop().create_future()
            self._tasks.append(asyncio.create_task(self._hold(kind, self._opened[kind])))
        # One trial that is given up does not take the connection from the others.
        return await asyncio.shield(self._opened[kind])

    async def _hold(self, kind: type[Any], opened: "asyncio.Future[Any]") -> None:
        try:
            async with kind.connect(self._context) as connection:
                opened.set_result(connection)
                await self._ended.wait()
        except (Exception, SystemExit) as error:  # noqa: BLE001  (it becomes the grades)
            if opened.done():
                self._context.warn(f"a grader's connection did not close: {error_line(error)}")
            else:
                opened.set_exception(error)

    async def close(self) -> None:
        """Close all connections; one that does not close in time is left to itself."""
        self._ended.set()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=_CLOSE_SECONDS)
            for task in late:
                task.cancel()
        for opened in self._opened.values():
            # Nobody may be left to be told of an error.
            if opened.done() and not opened.cancelled():
                opened.exception()
