"""Event loops in threads of their own, for async functions of users: one that blocks harms nobody.

Functions share a loop, and with it their clients, as long as none blocks it. One that does is
known by the task that runs meanwhile: it keeps the loop that it blocks, and has from then on one
of its own for each call. Calls that it held up are made anew, on loops of their own.
"""

import asyncio
import math
import threading
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from typing import Any

from harness.system.user_calls import GRACE_SECONDS, UserCodeError, within

PULSE_SECONDS = 1.0
"""How long a call may wait before its loop is asked whether it still goes round, at most."""

_FEWEST_PULSES = 4
_FOREIGN = ("different loop", "different event loop")

Start = Callable[[], Coroutine[Any, Any, Any]]


class _Call:
    """One call, by which the tasks that it makes are known."""

    def __init__(self, function: object) -> None:
        self.function = function


_making: ContextVar[_Call | None] = ContextVar("guarded_call", default=None)


class _HeldUpError(Exception):
    """Another function blocks the loop of a call."""

    def __init__(self, culprit: object) -> None:
        super().__init__()
        self.culprit = culprit


class GuardedLoops:
    """The loops that async functions of users run on."""

    def __init__(self) -> None:
        self._shared: _LoopThread | None = None
        self._blocking: list[object] = []
        self._bound: list[object] = []

    async def call(self, function: object, start: Start, *, seconds: float) -> Any:
        """Await what `start` gives, on another loop than the caller's; `function` is whose it is.

        Futures of other loops may be awaited; what else is bound to the caller's loop, such as
        a lock, is awaited there, as asyncio allows nothing else. `start` is called again for that,
        and where another function has blocked the loop.

        Raises:
            UserCodeError: as `start` raises it.
            TimeoutError: time is up; the call is cancelled, and left to itself.
        """
        if not _holds(self._bound, function):
            try:
                return await self._apart(_Call(function), start, seconds)
            except UserCodeError as raised:
                if not _is_of_another_loop(raised.error):
                    raise
                self._bound.append(function)
        return await within(start(), seconds=seconds)

    async def _apart(self, call: _Call, start: Start, seconds: float) -> Any:
        if _holds(self._blocking, call.function):
            return await _alone(call, start, seconds)
        if self._shared is None:
            self._shared = _LoopThread()
        loop = self._shared
        try:
            return await loop.call(call, start, seconds)
        except _HeldUpError as held_up:
            if not _holds(self._blocking, held_up.culprit):
                self._blocking.append(held_up.culprit)
            if self._shared is loop:
                self._shared = None
                loop.retire()
        return await _alone(call, start, seconds)


async def _alone(call: _Call, start: Start, seconds: float) -> Any:
    loop = _LoopThread()
    try:
        return await loop.call(call, start, seconds)
    finally:
        loop.retire()


class _LoopThread:
    """A loop in a daemon thread, which nothing that runs on it can end."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.set_task_factory(lambda loop, work, **more: _Task(work, loop=loop, **more))
        self._is_retired = False
        threading.Thread(target=self._run, name="regrade-loop", daemon=True).start()

    def _run(self) -> None:
        while not self._is_retired:
            # Whatever a task of theirs raises, such as `SystemExit`, is theirs alone.
            with suppress(BaseException):
                self._loop.run_forever()
        self._loop.close()

    async def call(self, call: _Call, start: Start, seconds: float) -> Any:
        """Await what `start` gives on this loop.

        Raises:
            _HeldUpError: the loop is blocked by another call.
            TimeoutError: time is up.
        """
        attempt = _Attempt(start)
        work = asyncio.wrap_future(self._begun(call, attempt))
        work.add_done_callback(_take_exception)
        pulses = max(_FEWEST_PULSES, math.ceil(seconds / PULSE_SECONDS))
        try:
            answered: threading.Event | None = None
            for _ in range(pulses):
                await asyncio.wait({work}, timeout=seconds / pulses)
                if work.done():
                    return work.result()
                if answered and not answered.is_set():
                    self._refuse_others(call)
                answered = threading.Event()
                self._loop.call_soon_threadsafe(answered.set)
            work.cancel()
            await asyncio.wait({attempt.ended}, timeout=GRACE_SECONDS)
            raise TimeoutError
        finally:
            attempt.is_over = True
            work.cancel()

    def _begun(self, call: _Call, attempt: "_Attempt") -> Any:
        token = _making.set(call)
        try:
            return asyncio.run_coroutine_threadsafe(attempt.run(), self._loop)
        finally:
            _making.reset(token)

    def _refuse_others(self, call: _Call) -> None:
        """Raise where a task of another call keeps the loop to itself."""
        task = asyncio.current_task(self._loop)
        owner = task.owner if isinstance(task, _Task) else None
        if owner is not None and owner is not call:
            raise _HeldUpError(owner.function)

    def retire(self) -> None:
        """End the loop once nothing runs on it any more."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop)

    async def _end(self) -> None:
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others)
        self._is_retired = True
        self._loop.stop()


class _Bridge:
    """Drives a coroutine that may await futures of other loops."""

    def __init__(self, work: Coroutine[Any, Any, Any]) -> None:
        self._work = work

    def __await__(self) -> Generator[Any, Any, Any]:
        step = partial(self._work.send, None)
        while True:
            try:
                awaited = step()
            except StopIteration as end:
                return end.value
            try:
                if _is_foreign(awaited):
                    yield from _done_elsewhere(awaited).__await__()
                else:
                    yield awaited
            except BaseException as error:  # noqa: BLE001  (it is the coroutine's to handle)
                step = partial(self._work.throw, error)
            else:
                step = partial(self._work.send, None)


class _Attempt:
    """One call of `start` on another loop; `ended` is of the caller's, `is_over` said by it."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._home = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = self._home.create_future()
        self.is_over = False

    async def run(self) -> Any:
        """Await what is started, unless it was given up while the loop was blocked."""
        if self.is_over:
            return None
        try:
            return await _Bridge(self._start())
        finally:
            # The caller's loop may have ended meanwhile.
            with suppress(RuntimeError):
                self._home.call_soon_threadsafe(_open, self.ended)


def _open(gate: "asyncio.Future[None]") -> None:
    if not gate.done():
        gate.set_result(None)


def _is_foreign(awaited: Any) -> bool:
    return asyncio.isfuture(awaited) and awaited.get_loop() is not asyncio.get_running_loop()


async def _done_elsewhere(future: "asyncio.Future[Any]") -> None:
    """Wait until a future of another loop is done, without touching it from here."""
    future._asyncio_future_blocking = False  # noqa: SLF001  (what a task does with a future)
    here, there = asyncio.get_running_loop(), future.get_loop()
    gate: asyncio.Future[None] = here.create_future()

    def pass_on(_: object) -> None:
        # This loop may have ended meanwhile.
        with suppress(RuntimeError):
            here.call_soon_threadsafe(_open, gate)

    there.call_soon_threadsafe(future.add_done_callback, pass_on)
    try:
        await gate
    except asyncio.CancelledError:
        there.call_soon_threadsafe(future.cancel)
        raise


class _Task(asyncio.Task[Any]):
    """A task that knows for which call it was made, also by a task of that call."""

    def __init__(self, work: Any, **more: Any) -> None:
        self.owner = _making.get()
        super().__init__(work, **more)


def _holds(functions: list[object], function: object) -> bool:
    return any(one is function for one in functions)


def _is_of_another_loop(error: BaseException) -> bool:
    return isinstance(error, RuntimeError | ValueError) and any(
        words in str(error) for words in _FOREIGN
    )


def _take_exception(work: "asyncio.Future[Any]") -> None:
    if not work.cancelled():
        work.exception()


call_apart = GuardedLoops().call
"""Await an async function of the user's beside the caller's loop."""
