"""Bounded concurrency: so many workers take one trial after another from the plan."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

from harness.running.plans import PlannedTrial
from harness.system.clock import monotonic

_BREATH_SECONDS = 0.02
"""How long agents that never wait may keep the loop from timers and signals."""


class Stop:
    """A wish to end the run before the plan is done; `reason` is empty until it is asked for."""

    def __init__(self) -> None:
        self.reason = ""
        self._workers: list[asyncio.Task[None]] = []

    def ask(self, reason: str) -> None:
        """Ask all workers to give up what they do; the first reason stays."""
        self.reason = self.reason or reason
        for worker in self._workers:
            worker.cancel()

    def watch(self, workers: list["asyncio.Task[None]"]) -> None:
        """Take charge of workers that were just started."""
        self._workers = workers
        if self.reason:
            self.ask(self.reason)


async def run_workers(
    tasks: Iterator[PlannedTrial],
    make: Callable[[PlannedTrial], Awaitable[None]],
    *,
    concurrency: int,
    stop: Stop,
) -> None:
    """Call `make` on every task, `concurrency` at once, until the tasks end or `stop` is asked.

    The first exception of a task ends the others and is raised.
    """

    async def work() -> None:
        rested = monotonic()
        for task in tasks:
            await make(task)
            if monotonic() - rested > _BREATH_SECONDS:
                await asyncio.sleep(0)
                rested = monotonic()

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
