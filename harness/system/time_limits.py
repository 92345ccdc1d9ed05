"""Time limits on what an agent does, which waiting for an endpoint does not count against."""

import asyncio
import math
from collections.abc import Callable, Coroutine, Generator
from typing import Any, TypeVar

from harness.system.clock import monotonic
from harness.types.errors import TargetError

_T = TypeVar("_T")
_Work = Coroutine[Any, Any, _T]


async def bounded(work: _Work[_T], timer: Callable[[], asyncio.Timeout]) -> _T:
    """Await a coroutine under a timer that is set when the coroutine first waits.

    Most of what an agent in this process does never waits, and a timer costs more than it.

    Raises:
        TimeoutError: the timer ran out; also where the coroutine swallowed its cancellation.
    """
    try:
        awaited = work.send(None)
    except StopIteration as end:
        done: _T = end.value
        return done
    async with timer() as limit:
        done = await _Rest(work, awaited)
    if limit.expired():
        raise TimeoutError
    return done


class _Rest:
    """The rest of a coroutine that has begun to wait for `awaited`."""

    def __init__(self, work: _Work[Any], awaited: Any) -> None:
        self._work, self._awaited = work, awaited

    def __await__(self) -> Generator[Any, Any, Any]:
        try:
            while True:
                try:
                    answer = yield self._awaited
                except BaseException as error:  # noqa: BLE001  (it is the coroutine's to handle)
                    self._awaited = self._work.throw(error)
                else:
                    self._awaited = self._work.send(answer)
        except StopIteration as end:
            return end.value


class TimeBudget:
    """The time one trial has: for a turn, for the trial as a whole, and for waiting.

    `turn_seconds` and `trial_seconds` are None for no limit. `waited` is how many seconds were
    spent waiting for endpoints, not counted by any limit; `waited_enough` says that a further wait
    was refused.
    """

    def __init__(
        self, *, turn_seconds: float | None, trial_seconds: float | None, wait_seconds: float
    ) -> None:
        self._turn_seconds = math.inf if turn_seconds is None else turn_seconds
        self._trial_seconds = math.inf if trial_seconds is None else trial_seconds
        self._wait_seconds = wait_seconds
        self._spent = 0.0
        self._bonus = 0.0
        self._timer: asyncio.Timeout | None = None
        self.waited = 0.0
        self.waited_enough = False

    async def turn(self, work: _Work[_T]) -> _T:
        """Await what the agent does in one turn.

        Raises:
            TargetError: `turn_timeout` or `trial_timeout`, when time is up.
        """
        started, waited = monotonic(), self.waited
        self._timer, self._bonus = None, 0.0
        try:
            return await bounded(work, self._set_timer)
        except TimeoutError as error:
            if not self._is_expired():
                raise
            raise self._timed_out() from error
        finally:
            self._spent += monotonic() - started - (self.waited - waited)

    async def wait(self, seconds: float) -> None:
        """Sleep without charging the limits.

        Raises:
            TargetError: `rate_limited`, where all waits together would pass `wait_seconds`.
        """
        if self.waited + seconds > self._wait_seconds:
            self.waited_enough = True
            raise TargetError(
                f"waiting for the endpoint would take {seconds:g} s more, after "
                f"{self.waited:g} s; retries.max_wait_seconds is {self._wait_seconds:g}",
                code="rate_limited",
                retry_after=seconds,
            )
        self.waited += seconds
        self._bonus += seconds
        when = self._timer.when() if self._timer else None
        if self._timer is not None and when is not None:
            self._timer.reschedule(when + seconds)
        await asyncio.sleep(seconds)

    def _set_timer(self) -> asyncio.Timeout:
        seconds = min(self._turn_seconds, max(self._trial_seconds - self._spent, 0.0))
        # A wait may have begun before the coroutine gave way for the first time.
        seconds += self._bonus
        self._timer = asyncio.timeout(None if seconds == math.inf else seconds)
        return self._timer

    def _is_expired(self) -> bool:
        return self._timer is not None and self._timer.expired()

    def _timed_out(self) -> TargetError:
        if self._turn_seconds <= self._trial_seconds - self._spent:
            took = f"the turn took longer than limits.turn_seconds: {self._turn_seconds:g}"
            return TargetError(took, code="turn_timeout")
        took = f"the trial took longer than limits.trial_seconds: {self._trial_seconds:g}"
        return TargetError(took, code="trial_timeout")
