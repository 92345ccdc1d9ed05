"""Calls of the user's own functions: whatever they raise comes back as one kind of error.

An async function runs on the event loop, where the clients it shares with others live; any other
runs in a thread. Graders have loops beside it: `guarded_loops`. Neither `sys.exit()` nor a
`KeyboardInterrupt` of theirs ends the run.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from harness.system.clock import monotonic
from harness.system.texts import error_line
from harness.system.threads import in_thread

_T = TypeVar("_T")
Caller = Callable[..., Coroutine[Any, Any, Any]]

GRACE_SECONDS = 1.0
"""How long a cancelled call may take to clean up before it is left to itself."""


class UserCodeError(Exception):
    """The user's code raised `error`, which may be a `SystemExit` or the like."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(error_line(error))
        self.error = error


def is_async(function: Callable[..., Any]) -> bool:
    """Say whether calling it gives something to await, as far as can be told beforehand."""
    if inspect.iscoroutinefunction(function):
        return True
    return inspect.iscoroutinefunction(getattr(type(function), "__call__", None))  # noqa: B004


def caller_of(function: Callable[..., Any]) -> Caller:
    """Return how to call a function without blocking: async ones inline, others in a thread.

    What is returned takes the function's arguments, and is awaited. It raises `UserCodeError`
    for whatever the function raises, a cancellation of its own included; one from outside
    passes through.
    """
    return partial(_call_async if is_async(function) else _call_sync, function)


async def within(call: Coroutine[Any, Any, _T], *, seconds: float) -> _T:
    """Await a call for at most so many seconds, also where it ignores its cancellation.

    Raises:
        UserCodeError: the call has cancelled itself.
        TimeoutError: time is up; the call is cancelled, and after a grace period left to itself.
    """
    started = monotonic()
    task = asyncio.ensure_future(call)
    # Without this asyncio reports an exception that a call raises after it was given up.
    task.add_done_callback(_take_exception)
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        task.cancel()
        raise
    if not done:
        task.cancel()
        await asyncio.wait({task}, timeout=GRACE_SECONDS)
    # An async function that blocks holds up its own time limit too.
    if not done or monotonic() - started > seconds:
        raise TimeoutError
    if task.cancelled():
        raise UserCodeError(asyncio.CancelledError())
    return task.result()


async def _call_async(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    try:
        return await function(*args, **kwargs)
    except GeneratorExit:
        raise
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise UserCodeError(error) from error
    except BaseException as error:
        raise UserCodeError(error) from error


async def call_in_thread(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a function in a thread, and return what it returns, be that something to await.

    Raises:
        UserCodeError: it raised.
    """
    return await in_thread(_attempt, function, args, kwargs)


async def _call_sync(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    value = await call_in_thread(function, *args, **kwargs)
    return await wait_for_value(value) if inspect.isawaitable(value) else value


async def wait_for_value(value: Awaitable[Any]) -> Any:
    """Await what a function has returned.

    Raises:
        UserCodeError: it raised.
    """
    return await _call_async(lambda: value)


def _attempt(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    # In a thread all of these are the function's own doing: Ctrl-C reaches the main thread.
    try:
        return function(*args, **kwargs)
    except BaseException as error:
        raise UserCodeError(error) from error


def _take_exception(task: "asyncio.Task[Any]") -> None:
    if not task.cancelled():
        task.exception()
