"""Time limits on what agents do; waiting for an endpoint, and a loop that hangs, do not count."""

import asyncio
import math
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

from harness.system.clock import monotonic, wait_text
from harness.types.errors import TargetError

_T = TypeVar("_T")
_Work = Coroutine[Any, Any, _T]

GRACE_SECONDS = 5.0
"""How long work that is over time may take to clean up, before it is given up."""

BLOCKING_SECONDS = 1.0
"""A step on the event loop that takes longer keeps everybody else waiting."""

_LAG_SECONDS = 0.05


class Limit:
    """Awaits a coroutine under a time limit that is set when the coroutine first waits.

    Most of what an agent in this process does never waits, and a timer costs more than it. Over
    time, the coroutine is cancelled; where it swallows that, it is given up after a while, so
    that nothing can hold the run. What the loop lags behind, because somebody else blocks it,
    is added to the limit; the one who blocks is over time by its own steps. `longest_step` is
    the most seconds that the coroutine kept the loop to itself.
    """

    _when = math.inf
    _is_held = False
    _timer: asyncio.TimerHandle | None = None
    _awaited: Any = None
    _rest: "_Rest | None" = None
    expired = False
    longest_step = 0.0

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def run(self, work: _Work[_T]) -> _T:
        """Await the coroutine.

        Raises:
            TimeoutError: it is over time, `expired` is true; or it raised one of its own.
        """
        done = self.begin(work)
        return await self.go_on(work) if done is None else done[0]

    def begin(self, work: _Work[_T]) -> tuple[_T] | None:
        """Take the first step of the coroutine; return what it returned, None where it waits.

        For who awaits so much that `run` would be one coroutine too many: `go_on` awaits the rest.

        Raises:
            TimeoutError: the step took too long, and was all of it.
        """
        started = monotonic()
        try:
            self._awaited = work.send(None)
        except StopIteration as end:
            # Not the exception itself: it knows this frame, which would then know it for ever.
            done = (end.value,)
            self.longest_step = monotonic() - started
        else:
            self.longest_step = monotonic() - started
            return None
        if self.longest_step > self._seconds:
            self.expired = True
            raise TimeoutError
        return done

    async def go_on(self, work: _Work[_T]) -> _T:
        """Await the rest of a coroutine that waits; raises as `run` does."""
        done = await self._await_rest(work)
        if self.longest_step > self._seconds:
            self.expired = True
        if self.expired:
            raise TimeoutError
        return done

    async def _await_rest(self, work: _Work[_T]) -> _T:
        loop = asyncio.get_running_loop()
        self._rest = _Rest(work, self._awaited, self._step_took)
        self._schedule(loop.time() + max(self._seconds - self.longest_step, 0.0))
        try:
            done: _T = await self._rest
        except asyncio.CancelledError:
            if self.expired and not _is_cancelled():
                raise TimeoutError from None
            raise
        except Exception as error:
            if self.expired:
                raise TimeoutError from error
            raise
        else:
            return done
        finally:
            if self._timer is not None:
                self._timer.cancel()
            self._rest = None

    def extend(self, seconds: float) -> None:
        """Add to the limit."""
        self._seconds += seconds
        if self._timer is not None and not self.expired:
            self._schedule(self._when + seconds)

    def hold(self) -> None:
        """Let the clock stand still; what is not held is left running."""
        self._is_held = True
        if self._timer is not None:
            self._timer.cancel()

    def release(self, seconds: float) -> None:
        """Let the clock go on after so many seconds of standing still."""
        self._is_held = False
        self._seconds += seconds
        if self._when != math.inf and not self.expired:
            self._schedule(self._when + seconds)

    def _schedule(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._when = when
        if when != math.inf and not self._is_held:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(when, self._time_is_up)

    def _time_is_up(self) -> None:
        loop = asyncio.get_running_loop()
        lag = loop.time() - self._when
        if lag > _LAG_SECONDS:
            # Somebody else held the loop: this much of the time was not ours.
            self._schedule(loop.time() + lag)
            return
        self.expired = True
        if self._rest is not None:
            self._rest.interrupt()
            self._timer = loop.call_later(GRACE_SECONDS, self._rest.give_up)

    def _step_took(self, seconds: float) -> None:
        self.longest_step = max(self.longest_step, seconds)


async def limited(work: _Work[_T], seconds: float) -> _T:
    """Await a coroutine for so many seconds at most; raises as `Limit.run` does."""
    return await Limit(seconds).run(work)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class _Rest:
    """The rest of a coroutine that has begun to wait: driven as a task would drive it.

    Besides, it can be interrupted without cancelling the task, and given up whatever it does.
    """

    def __init__(self, work: _Work[Any], awaited: Any, step_took: Callable[[float], None]) -> None:
        self._work, self._awaited, self._step_took = work, awaited, step_took
        self._gate: asyncio.Future[None] | None = None
        self._interrupted = self._given_up = False

    def interrupt(self) -> None:
        """Raise `CancelledError` in the coroutine, once."""
        self._interrupted = True
        self._open_gate()

    def give_up(self) -> None:
        """Leave the coroutine where it is."""
        self._given_up = True
        self._open_gate()

    def _open_gate(self) -> None:
        if self._gate is not None and not self._gate.done():
            self._gate.set_result(None)

    def __await__(self) -> Generator[Any, None, Any]:
        while True:
            step = partial(self._work.send, None)
            try:
                yield from self._settle()
            except _GivenUpError:
                with suppress(BaseException):
                    self._work.close()
                raise asyncio.CancelledError from None
            except BaseException as error:  # noqa: BLE001  (it is the coroutine's to handle)
                step = partial(self._work.throw, error)
            started = monotonic()
            try:
                self._awaited = step()
            except StopIteration as end:
                return end.value
            finally:
                self._step_took(monotonic() - started)

    def _settle(self) -> Generator[Any, None, None]:
        """Wait until what the coroutine waits for is done, passing cancellations on to it."""
        future = self._awaited
        if future is None:
            yield
            return
        future._asyncio_future_blocking = False  # noqa: SLF001  (what a task does on its yield)
        while not future.done():
            try:
                yield from self._wait_for(future)
            except asyncio.CancelledError as error:
                # Libraries know their own cancellations by the message.
                if not future.cancel(*error.args):
                    raise
            if self._given_up:
                raise _GivenUpError
            if self._interrupted:
                self._interrupted = False
                if not future.cancel():
                    raise asyncio.CancelledError

    def _wait_for(self, future: "asyncio.Future[Any]") -> Generator[Any, None, None]:
        gate = self._gate = asyncio.get_running_loop().create_future()

        def wake(_: object) -> None:
            if not gate.done():
                gate.set_result(None)

        future.add_done_callback(wake)
        try:
            yield from gate.__await__()
        finally:
            future.remove_done_callback(wake)


class _GivenUpError(BaseException):
    """The coroutine is not waited for any more."""


class TimeBudget:
    """The time one trial has: for a turn, for the trial as a whole, and for waiting.

    `turn_seconds` and `trial_seconds` are None for no limit. `spent` is how many seconds the
    agent had so far. `waited` is how many were spent waiting for endpoints, not counted by any
    limit; `waited_enough` says that a further wait was refused. `held_up` is how many the run kept
    it waiting by its own limits, which no limit counts either. `longest_step` is the most seconds
    that the agent kept the event loop to itself.
    """

    _limit: Limit | None = None
    spent = 0.0
    waited = 0.0
    held_up = 0.0
    waited_enough = False
    longest_step = 0.0

    def __init__(
        self, *, turn_seconds: float | None, trial_seconds: float | None, wait_seconds: float
    ) -> None:
        self._turn_seconds = math.inf if turn_seconds is None else turn_seconds
        self._trial_seconds = math.inf if trial_seconds is None else trial_seconds
        self._wait_seconds = wait_seconds

    async def turn(self, work: _Work[_T]) -> _T:
        """Await what the agent does in one turn.

        Raises:
            TargetError: `turn_timeout` or `trial_timeout`, when time is up.
        """
        started, idle = monotonic(), self.waited + self.held_up
        left = self._trial_seconds - self.spent
        seconds = self._turn_seconds
        # Written out here and below: `min` and `max` would take longer than most of this.
        limit = self._limit = Limit(left if left < seconds else seconds)  # noqa: FURB136
        try:
            done = limit.begin(work)
            return await limit.go_on(work) if done is None else done[0]
        except TimeoutError as error:
            if not limit.expired:
                raise
            raise self._timed_out() from error
        finally:
            self.spent += monotonic() - started - (self.waited + self.held_up - idle)
            if limit.longest_step > self.longest_step:  # noqa: PLR1730
                self.longest_step = limit.longest_step

    async def wait(self, seconds: float) -> None:
        """Sleep without charging the limits.

        Raises:
            TargetError: `rate_limited`, where all waits together would pass `wait_seconds`.
        """
        if self.waited + seconds > self._wait_seconds:
            self.waited_enough = True
            raise TargetError(self._too_long(seconds), code="rate_limited", retry_after=seconds)
        self.waited += seconds
        if self._limit is not None:
            self._limit.extend(seconds)
        await asyncio.sleep(seconds)

    def _too_long(self, seconds: float) -> str:
        return (
            f"waiting for the endpoint would take {wait_text(seconds)} more, "
            f"after {self.waited:g} s; retries.max_wait_seconds is {self._wait_seconds:g}"
        )

    def explained(self, error: TargetError) -> TargetError:
        """Return an error with why its wait is too long and when that would end, if it is so.

        What `wait` has raised says so already.
        """
        seconds = error.retry_after
        if seconds is None or seconds <= self._wait_seconds or self.waited_enough:
            return error
        text = f"{error}; {self._too_long(seconds)}"
        return TargetError(text, code=error.code, retry_after=seconds, hint=error.hint)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Charge no limit for what is awaited inside."""
        started, limit = monotonic(), self._limit
        if limit is not None:
            limit.hold()
        try:
            yield
        finally:
            seconds = monotonic() - started
            self.held_up += seconds
            if limit is not None:
                limit.release(seconds)

    def _timed_out(self) -> TargetError:
        if self._turn_seconds <= self._trial_seconds - self.spent:
            took = f"the turn took longer than limits.turn_seconds: {self._turn_seconds:g}"
            return TargetError(took, code="turn_timeout")
        took = f"the trial took longer than limits.trial_seconds: {self._trial_seconds:g}"
        return TargetError(took, code="trial_timeout")
