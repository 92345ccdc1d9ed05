"""Time limits on what an agent does, which waiting for an endpoint does not count against."""

import asyncio
import math
from types import TracebackType
from typing import Self

from harness.system.clock import monotonic
from harness.types.errors import TargetError


class Patience:
    """The time one trial has: for a turn, for the trial as a whole, and for waiting.

    `turn_seconds` and `trial_seconds` are None for no limit. Use it as a context manager round
    each turn: it raises `TargetError` with code `turn_timeout` or `trial_timeout` when time is up.
    `waited` is how many seconds were spent waiting for endpoints, which no limit counts.
    """

    def __init__(
        self, *, turn_seconds: float | None, trial_seconds: float | None, wait_seconds: float
    ) -> None:
        self._turn_seconds = turn_seconds
        self._trial_seconds = trial_seconds
        self._wait_seconds = wait_seconds
        self._spent = 0.0
        self._started = 0.0
        self._extended = 0.0
        self._code = ""
        self._timer = asyncio.Timeout(None)
        self.waited = 0.0

    async def wait(self, seconds: float) -> None:
        """Sleep without charging the limits.

        Raises:
            TargetError: `rate_limited`, where all waits together would pass `wait_seconds`.
        """
        if self.waited + seconds > self._wait_seconds:
            raise TargetError(
                f"the endpoint asks to wait {seconds:g} s more, after {self.waited:g} s; "
                f"retries.max_wait_seconds is {self._wait_seconds:g}",
                code="rate_limited",
                retry_after=seconds,
            )
        self.waited += seconds
        self._extended += seconds
        when = self._timer.when()
        if when is not None:
            self._timer.reschedule(when + seconds)
        await asyncio.sleep(seconds)

    async def __aenter__(self) -> Self:
        """Start the clock of a turn."""
        self._started = monotonic()
        self._extended = 0.0
        self._timer = asyncio.Timeout(self._deadline())
        await self._timer.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the clock; say which limit was hit."""
        self._spent += monotonic() - self._started - self._extended
        try:
            await self._timer.__aexit__(kind, error, trace)
        except TimeoutError as timeout:
            if not self._timer.expired():
                raise
            raise self._timed_out() from timeout
        # Code that swallows the cancellation has still had its time.
        if self._timer.expired() and not isinstance(error, asyncio.CancelledError):
            raise self._timed_out()

    def _deadline(self) -> float | None:
        turn = math.inf if self._turn_seconds is None else self._turn_seconds
        trial = math.inf if self._trial_seconds is None else self._trial_seconds - self._spent
        self._code = "turn_timeout" if turn < trial else "trial_timeout"
        seconds = max(min(turn, trial), 0.0)
        return None if seconds == math.inf else asyncio.get_running_loop().time() + seconds

    def _timed_out(self) -> TargetError:
        turn = self._code == "turn_timeout"
        seconds = self._turn_seconds if turn else self._trial_seconds
        what = "turn" if turn else "trial"
        return TargetError(
            f"the {what} took longer than limits.{what}_seconds: {seconds:g}", code=self._code
        )
