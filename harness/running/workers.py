"""Bounded concurrency: a number of workers take one job after another from a stream."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any, TypeVar

from harness.system.clock import monotonic

_T = TypeVar("_T")

_YIELD_SECONDS = 0.02
"""How long jobs that never wait may keep the loop from timers and signals."""

STOP_SECONDS = 10.0
"""How long jobs that were cancelled may take to clean up before they are left to themselves."""


class NotStarted(Exception):  # noqa: N818  (an outcome of a job, not a mistake)
    """A job was not begun, and will not be; the run says why by itself."""


class Stop:
    """A request to end a run before its plan is done, by its user or by what it meets itself.

    `reason` is why its user ended it: the work was cancelled. `shortfalls` are why it ended by
    itself, or left something out: what was in flight went on to its end. All are empty until then.
    """

    def __init__(self) -> None:
        self.reason = ""
        self.shortfalls: list[str] = []
        self._is_ending = False
        self._task: asyncio.Task[None] | None = None

    @property
    def is_asked(self) -> bool:
        """Say whether no further job is to be begun."""
        return self._is_ending or bool(self.reason)

    def ask(self, reason: str) -> None:
        """Cancel the work; the first reason stays."""
        self.reason = self.reason or reason
        if self._task is not None:
            self._task.cancel()

    def leave_out(self, shortfall: str) -> None:
        """Note why some jobs are not begun; the others are."""
        self.shortfalls.append(shortfall)

    def end(self) -> None:
        """Let no further job begin, for what was noted; those in flight go on."""
        self._is_ending = True

    async def guard(self, work: Coroutine[Any, Any, None]) -> None:
        """Do the work until it ends or a stop is asked for."""
        self._task = asyncio.ensure_future(work)
        if self.reason:
            self._task.cancel()
        try:
            await self._task
        except asyncio.CancelledError:
            if not self.reason:
                raise


async def run_workers(
    jobs: Iterator[_T],
    do: Callable[[_T], Awaitable[None]],
    *,
    concurrency: int,
    stop: Stop,
) -> None:
    """Call `do` on every job, `concurrency` at once, until they end or a stop is asked for.

    A job that raises `NotStarted` is left out; the first other exception of a job ends the others
    and is raised.
    """
    workers = [asyncio.create_task(_work(jobs, do, stop)) for _ in range(concurrency)]
    try:
        await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.wait(workers, timeout=STOP_SECONDS)
    for worker in workers:
        if worker.done() and not worker.cancelled() and (error := worker.exception()):
            raise error


async def _work(jobs: Iterator[_T], do: Callable[[_T], Awaitable[None]], stop: Stop) -> None:
    yielded = monotonic()
    for job in jobs:
        try:  # noqa: SIM105  (`suppress` costs as much as all the rest of this loop)
            await do(job)
        except NotStarted:
            pass
        # A job may have swallowed its cancellation.
        if stop.is_asked:
            return
        if monotonic() - yielded > _YIELD_SECONDS:
            await asyncio.sleep(0)
            yielded = monotonic()
