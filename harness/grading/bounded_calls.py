"""Calls of a suite's own functions, under a time limit, with whatever they raise kept as a value.

A sync function runs in a thread; one that overruns is given up. An async one runs on the event
loop, where the clients it shares with the agent live; one that overruns is cancelled. Neither
`sys.exit()` nor a `KeyboardInterrupt` of theirs ends the run.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from harness.system.clock import monotonic
from harness.system.patterns import time_limit
from harness.system.threads import in_thread

_GRACE_SECONDS = 1.0
"""How long a cancelled function may take to clear up before it is left to itself."""


@dataclass(frozen=True, slots=True)
class Returned:
    """A call came back with a value."""

    value: Any


@dataclass(frozen=True, slots=True)
class Raised:
    """A call ended with an exception."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class Overran:
    """A call took longer than its limit."""

    seconds: float


Outcome = Returned | Raised | Overran


async def call(function: Callable[[], Any], *, seconds: float, on_loop: bool) -> Outcome:
    """Call a function without arguments: on the event loop if it is async, else in a thread."""
    started = monotonic()
    if on_loop:
        outcome: Outcome = _attempt(function)
    else:
        outcome = await _in_thread(function, seconds)
    if isinstance(outcome, Returned) and inspect.isawaitable(outcome.value):
        outcome = await _awaited(outcome.value, seconds - (monotonic() - started))
    # An async function that blocks holds up its own time limit too.
    return Overran(seconds) if monotonic() - started > seconds else outcome


async def _in_thread(function: Callable[[], Any], seconds: float) -> Outcome:
    try:
        async with asyncio.timeout(seconds):
            return await in_thread(_attempt_searching, function, seconds)
    except TimeoutError:
        return Overran(seconds)


def _attempt_searching(function: Callable[[], Any], seconds: float) -> Outcome:
    with time_limit(seconds):
        return _attempt(function)


def _attempt(function: Callable[[], Any]) -> Outcome:
    try:
        return Returned(function())
    except BaseException as error:  # noqa: BLE001  (a function of the user's; its end is a value)
        return Raised(error)


async def _awaited(awaitable: Awaitable[Any], seconds: float) -> Outcome:
    task = asyncio.ensure_future(_attempt_async(awaitable))
    try:
        done, _ = await asyncio.wait({task}, timeout=max(seconds, 0.0))
    except asyncio.CancelledError:
        task.cancel()
        raise
    if done:
        return task.result()
    task.cancel()
    await asyncio.wait({task}, timeout=_GRACE_SECONDS)
    return Overran(seconds)


async def _attempt_async(awaitable: Awaitable[Any]) -> Outcome:
    try:
        return Returned(await awaitable)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return Raised(error)
    except GeneratorExit:
        raise
    except BaseException as error:  # noqa: BLE001  (as above)
        return Raised(error)
