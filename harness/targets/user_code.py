"""Calls of the user's own functions: whatever they raise comes back as one kind of error."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from harness.system.threads import in_thread


class UserCodeError(Exception):
    """The user's code raised; `error` is what, `SystemExit` and the like included."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"{type(error).__name__}: {text_of(error)}")
        self.error = error


def text_of(error: BaseException) -> str:
    """Give an error's text; some have none to give, and raise where they are asked."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001  (a class of the user's)
        return ""


def caller_of(function: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    """Give the way to call a function without blocking: async ones inline, others in a thread.

    What it gives raises `UserCodeError`; a cancellation from outside passes through.
    """
    return partial(_call_async if is_async(function) else _call_sync, function)


def is_async(function: Callable[..., Any]) -> bool:
    """Say whether calling it gives something to await, as far as can be told beforehand."""
    if inspect.iscoroutinefunction(function):
        return True
    return inspect.iscoroutinefunction(getattr(type(function), "__call__", None))  # noqa: B004


async def _call_async(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    try:
        return await function(*args, **kwargs)
    except asyncio.CancelledError as error:
        raise _unless_cancelled(error) from error
    except (Exception, SystemExit) as error:
        raise UserCodeError(error) from error


async def _call_sync(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    try:
        value = await in_thread(function, *args, **kwargs)
        return await value if inspect.isawaitable(value) else value
    except asyncio.CancelledError as error:
        raise _unless_cancelled(error) from error
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        # In a thread these are the function's own doing: Ctrl-C reaches the main thread.
        raise UserCodeError(error) from error


def _unless_cancelled(error: asyncio.CancelledError) -> BaseException:
    """Tell a cancellation from outside from one that the code raised by itself."""
    task = asyncio.current_task()
    return error if task is not None and task.cancelling() else UserCodeError(error)
