"""Requests that were refused before they had any effect are sent again, in place."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from harness.system.retrying import retry
from harness.types.errors import TargetError

_T = TypeVar("_T")


def _has_had_no_effect(refusal: TargetError) -> bool:
    return refusal.policy.resent


async def resend(
    ask: Callable[[], Awaitable[_T]],
    *,
    wait: Callable[[float], Awaitable[None]],
    may_resend: Callable[[TargetError], bool] = _has_had_no_effect,
) -> _T:
    """Ask until there is an answer, or an error that asking again does not cure.

    `wait` does the waiting, and raises `TargetError` where it has been long enough. `may_resend`
    says which errors asking again may cure.
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

    return await retry(ask, may_retry=may_resend, pause=pause)
