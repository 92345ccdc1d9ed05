"""Requests that were refused before they had any effect are sent again, in place."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception
from tenacity.wait import wait_random_exponential

from harness.types.errors import TargetError

_T = TypeVar("_T")

_backoff = wait_random_exponential(multiplier=0.5, max=30)


async def resend(
    ask: Callable[[], Awaitable[_T]], *, wait: Callable[[float], Awaitable[None]]
) -> _T:
    """Ask until there is an answer, or an error that is not cured by asking again.

    Between two requests it waits as long as the endpoint said, else a random time that grows.
    `wait` does the waiting, and raises `TargetError` where it has been long enough.
    """
    refusals: list[TargetError] = []

    async def ask_once() -> _T:
        try:
            return await ask()
        except TargetError as error:
            refusals.append(error)
            raise

    async def sleep(seconds: float) -> None:
        try:
            await wait(seconds)
        except TargetError as over:
            raise _given_up(refusals[-1], over) from over

    again = AsyncRetrying(
        retry=retry_if_exception(_is_resent), wait=_pause, sleep=sleep, reraise=True
    )
    return await again(ask_once)


def _is_resent(error: BaseException) -> bool:
    return isinstance(error, TargetError) and error.policy.resent


def _pause(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = error.retry_after if isinstance(error, TargetError) else None
    # An endpoint that asks for no time at all, over and over, is not asked a million times.
    return _backoff(state) if asked is None else max(asked, _floor(state.attempt_number))


def _floor(attempt: int) -> float:
    return min(0.001 * 2.0 ** min(attempt, 20), 10.0)


def _given_up(refusal: TargetError, over: TargetError) -> TargetError:
    return TargetError(
        f"{refusal}; {over}",
        code=refusal.code,
        retry_after=refusal.retry_after,
        hint=refusal.hint or over.hint,
    )
