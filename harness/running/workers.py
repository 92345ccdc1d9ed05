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


class Stop:
    """A request to end a run before its plan is done; `reason` is empty until it is made."""

    def __init__(self) -> None:
        self.reason = ""
        self._task: asyncio.Task[None] | None = None

    def ask(self, reason: str) -> None:
        """Cancel the work; the first reason stays."""
        self.reason = self.reason or reason
        if self._task is not None:
            self._task.cancel()

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

    The first exception of a job ends the others and is raised.
    """

    async def work() -> None:
        yielded = monotonic()
        for job in jobs:
            await do(job)
            # A job may have swallowed its cancellation.
            if stop.reason:
                return
            if monotonic() - yielded > _YIELD_SECONDS:
                await asyncio.sleep(0)
                yielded = monotonic()

    workers = [asyncio.create_task(work()) for _ in range(concurrency)]
    try:
        await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.wait(workers, timeout=STOP_SECONDS)
    for worker in workers:
        if worker.done() and not worker.cancelled() and (error := worker.exception()):
            raise error
