"""Waiting for a Letta server that is being restarted: nobody listens, so nothing had an effect."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from harness.endpoints.resending import resend
from harness.types.errors import TargetError
from harness.types.protocols import AttemptContext

_T = TypeVar("_T")


async def once_up(ask: Callable[[], Awaitable[_T]], context: AttemptContext) -> _T:
    """Ask, and again as long as nobody listens; everything else that fails is raised at once.

    Raises:
        TargetError: the last error, or nobody has listened for as long as the suite allows.
    """
    return await resend(ask, wait=context.wait, may_resend=_is_down)


def _is_down(error: TargetError) -> bool:
    return error.code == "connection_refused"
