"""Threads for code that blocks; one that never comes back does not keep the program alive."""

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from harness.types.errors import TargetError

_T = TypeVar("_T")
_Job = Callable[[], None]


class Threads:
    """Daemon threads, made as they are needed and used again; there is no upper bound.

    How many work at once is bounded by who calls: one trial runs a few. A call that was given up
    (cancelled) goes on in its thread, and its result is dropped.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)

    async def call(self, function: Callable[..., _T], /, *args: Any, **kwargs: Any) -> _T:
        """Call the function in a thread, with the context variables of the caller."""
        loop = asyncio.get_running_loop()
        result: asyncio.Future[_T] = loop.create_future()
        context = contextvars.copy_context()

        def job() -> None:
            try:
                value = context.run(function, *args, **kwargs)
            except BaseException as error:  # noqa: BLE001  (handed to the caller)
                _deliver(loop, result, _fail, error)
            else:
                _deliver(loop, result, _succeed, value)

        self._submit(job)
        return await result

    def _submit(self, job: _Job) -> None:
        if not self._idle.acquire(blocking=False):
            self._start()
        # Only now: a job must not run later on, when its caller was told that it cannot.
        self._jobs.put(job)

    def _start(self) -> None:
        try:
            threading.Thread(target=self._work, name="regrade-worker", daemon=True).start()
        except RuntimeError as error:
            raise TargetError(
                f"the system allows no further thread: {error}",
                code="target_broke",
                hint="lower limits.concurrency, or raise the limits of the process",
            ) from error

    def _work(self) -> None:
        while True:
            self._jobs.get()()
            self._idle.release()


def _deliver(
    loop: asyncio.AbstractEventLoop,
    result: "asyncio.Future[Any]",
    deliver: Callable[..., None],
    value: Any,
) -> None:
    if not loop.is_closed():
        # The loop may close between the question and the call: then nobody waits any more.
        try:
            loop.call_soon_threadsafe(deliver, result, value)
        except RuntimeError:
            return


def _succeed(result: "asyncio.Future[Any]", value: Any) -> None:
    if not result.done():
        result.set_result(value)


def _fail(result: "asyncio.Future[Any]", error: BaseException) -> None:
    if not result.done():
        # StopIteration cannot be set on a future.
        result.set_exception(
            RuntimeError("StopIteration") if isinstance(error, StopIteration) else error
        )


in_thread = Threads().call
"""Call a function in a daemon thread of this process: `await in_thread(function, *args)`."""
