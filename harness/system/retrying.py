"""Trying again what failed for outside reasons, by tenacity: whether, when, and how often."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    stop_never,
)
from tenacity.wait import wait_exponential, wait_exponential_jitter

from harness.types.errors import TargetError

_T = TypeVar("_T")
Pause = Callable[[float, TargetError], Awaitable[None]]
"""Waits that many seconds after an error; raises `TargetError` where it has been long enough."""

_growing = wait_exponential_jitter(initial=1, max=60, jitter=1)
_least = wait_exponential(multiplier=0.001, max=10)


def backoff(state: RetryCallState) -> float:
    """Return the seconds to wait: what the endpoint asked for, else a random time that grows."""
    asked: float | None = getattr(_error_of(state), "retry_after", None)
    if asked is None:
        return _growing(state)
    # An endpoint that asks for no time at all, over and over, is not asked a million times.
    return max(_least(state), asked)


def _error_of(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None


async def _sleep(seconds: float, _error: TargetError) -> None:
    await asyncio.sleep(seconds)


async def retry(
    work: Callable[[], Awaitable[_T]],
    *,
    may_retry: Callable[[TargetError], bool],
    attempts: int | None = None,
    pause: Pause = _sleep,
    failed: TargetError | None = None,
) -> _T:
    """Call `work` until it succeeds, and return its result.

    `failed` is the error of a first call that was made already.

    `may_retry` decides on each `TargetError`; all other exceptions pass through. `attempts` is
    how often `work` is called at most, None for as long as `pause` allows.

    Raises:
        TargetError: the last error of `work`, or what `pause` raised.
    """
    if failed is None:
        try:
            return await work()
        except TargetError as error:
            failed = error
    if attempts == 1 or not may_retry(failed):
        raise failed
    first = [failed]

    # Tenacity costs more than many agents do, so it sees only calls that have failed.
    async def work_again() -> _T:
        if first:
            raise first.pop()
        return await work()

    async def wait(state: RetryCallState) -> None:
        error = _error_of(state)
        if isinstance(error, TargetError):
            await pause(state.upcoming_sleep, error)

    retrying = AsyncRetrying(
        retry=retry_if_exception(lambda e: isinstance(e, TargetError) and may_retry(e)),
        stop=stop_never if attempts is None else stop_after_attempt(attempts),
        wait=backoff,
        before_sleep=wait,
        sleep=_no_sleep,
        reraise=True,
    )
    return await retrying(work_again)


async def _no_sleep(_seconds: float) -> None:
    """Return at once: `before_sleep` has waited, where the error is still known."""
