"""Requests that were refused before they had any effect are sent again, in place."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from harness.system.retrying import retry
from harness.types.errors import TargetError

_T = TypeVar("_T")


async def resend(
    ask: Callable[[], Awaitable[_T]], *, wait: Callable[[float], Awaitable[None]]
) -> _T:
    """Ask until there is an answer, or an error that asking again does not cure.

    `wait` does the waiting, and raises `TargetError` where it has been long enough.
    """

    async def pause(seconds: float, refusal: TargetError) -> None:
        try:
            await wait(seconds)
        except TargetError as over:
            raise TargetError(
                f"{refusal}; {over}",
                code=refusal.code,
                retry_after=refusal.retry_after,
                hint=refusal.hint or over.hint,
            ) from over

    return await retry(ask, may_retry=lambda refusal: refusal.policy.resent, pause=pause)
