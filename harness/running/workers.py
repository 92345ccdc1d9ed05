"""Bounded concurrency: a number of workers take one job after another from a stream."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

from harness.system.clock import monotonic

_T = TypeVar("_T")

_YIELD_SECONDS = 0.02
"""How long jobs that never wait may keep the loop from timers and signals."""


class Stop:
    """A request to end a run before its plan is done; `reason` is empty until it is made."""

    def __init__(self) -> None:
        self.reason = ""
        self._workers: list[asyncio.Task[None]] = []

    def ask(self, reason: str) -> None:
        """Cancel what the workers do; they take no further job. The first reason stays."""
        self.reason = self.reason or reason
        for worker in self._workers:
            worker.cancel()

    def watch(self, workers: list["asyncio.Task[None]"]) -> None:
        """Take charge of workers that were just started."""
        self._workers = workers
        if self.reason:
            self.ask(self.reason)


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
    stop.watch(workers)
    try:
        await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for worker in workers:
            worker.cancel()
        ended = await asyncio.gather(*workers, return_exceptions=True)
    for error in ended:
        if isinstance(error, Exception):
            raise error
