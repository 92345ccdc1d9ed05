"""Driving: one trial's attempts, each a conversation with a clean agent in a clean world."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import msgspec

from harness.running.pace_trials import TrialPace
from harness.running.pacing import Pacing
from harness.running.plans import PlannedTrial
from harness.running.worlds import Worlds
from harness.system.clock import monotonic, now
from harness.system.json_values import clean_json
from harness.system.redaction import redact
from harness.system.retrying import retry
from harness.system.texts import cut, error_line
from harness.system.time_limits import BLOCKING_SECONDS, Limit, TimeBudget, limited
from harness.types.errors import TargetError
from harness.types.events import Event, SystemEvent, UserMessage
from harness.types.protocols import AGENT_STATE, AttemptContext, Connection, Session
from harness.types.samples import Sample
from harness.types.suites import Limits, Retries
from harness.types.trajectories import Step, Trajectory, Turn, Usage
from harness.types.trials import Attempt, Failure

_CLOSE_SECONDS = 10.0
_LONGEST = 4_000
"""Characters of an error that are stored."""


SESSION_START = SystemEvent(
    kind="session_start", text="The conversation so far is forgotten; the memory is kept."
)
"""What precedes the first prompt of every session but the first."""


class _Draft(msgspec.Struct):
    """A trajectory while it happens; what was recorded stays, whatever ends the attempt."""

    turns: list[tuple[list[Event], list[Step]]] = []
    state: Mapping[str, Any] | None = None
    meter: Callable[[Step], Step] = lambda step: step

    def begin(self, text: str, *, new_session: bool) -> None:
        asked = UserMessage(text=text, at=now())
        self.turns.append(([SESSION_START, asked] if new_session else [asked], []))

    def record(self, what: Event | Step) -> None:
        events, steps = self.turns[-1]
        if isinstance(what, Step):
            steps.append(self.meter(what))
        else:
            events.append(what)

    def trajectory(self) -> Trajectory:
        turns = [Turn(events=tuple(events), steps=tuple(steps)) for events, steps in self.turns]
        return Trajectory(turns=tuple(turns))


class Driven(msgspec.Struct, frozen=True, kw_only=True):
    """What driving gave: the last attempt's trajectory and error, and all attempts.

    `seconds` is how long the agent worked, in all attempts, without fixtures and waiting.
    """

    trajectory: Trajectory
    error: TargetError | None
    snapshots: dict[str, Any]
    attempts: tuple[Attempt, ...] = ()
    seconds: float = 0.0
    waiting_seconds: float = 0.0

    @property
    def usage(self) -> Usage:
        """Sum the usage over all attempts: what was billed."""
        if len(self.attempts) == 1:
            return self.attempts[0].usage
        return sum((attempt.usage for attempt in self.attempts), Usage())


class Underway(msgspec.Struct):
    """A trial while it is driven: what is known of it where the end of the run cuts it off.

    `driven` is set by who drives it, once it is.
    """

    tries: list[Driven] = []
    draft: _Draft | None = None
    started_at: datetime | None = None
    started: float = 0.0
    driven: Driven | None = None

    def begin(self, draft: _Draft) -> None:
        """Begin an attempt."""
        self.draft, self.started_at, self.started = draft, now(), monotonic()

    def end(self, tried: Driven) -> Driven:
        """End the attempt."""
        self.tries.append(tried)
        self.draft = None
        return tried

    def cut_off(self) -> Driven | None:
        """Return what was driven so far, the attempt under way included; None for nothing."""
        error = TargetError("the run ended before the trial did", code="interrupted")
        tries = list(self.tries)
        if self.draft is not None and self.started_at is not None:
            tries.append(_unfinished(self.draft, self.started_at, monotonic() - self.started))
        if not tries:
            return None
        tries[-1] = msgspec.structs.replace(tries[-1], error=error)
        waited = sum(tried.waiting_seconds for tried in tries)
        return msgspec.structs.replace(_joined(tries, elapsed=0.0), waiting_seconds=waited)


def _unfinished(draft: _Draft, started_at: datetime, seconds: float) -> Driven:
    trajectory = draft.trajectory()
    failure = Failure(code="interrupted", message="the run ended before the attempt did")
    attempt = Attempt(started_at=started_at, seconds=seconds, error=failure, usage=trajectory.usage)
    return Driven(
        trajectory=trajectory, error=None, snapshots={}, attempts=(attempt,), seconds=seconds
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """Drives the trials of one run over one connection.

    `fixtures` are the objects of scope `run`; `warn` receives what went wrong beside the
    trials, `tell` describes what was raised there; `is_stopping` says that no further attempt is
    wanted; `on_wait` receives 1 where a trial begins to wait for its endpoint, and -1 where it
    goes on; `pacing` says when each may go on.
    """

    connection: Connection
    worlds: Worlds
    fixtures: Mapping[str, Any]
    limits: Limits
    retries: Retries
    warn: Callable[[str], None]
    tell: Callable[[BaseException], str] = error_line
    is_stopping: Callable[[], bool] = lambda: False
    on_wait: Callable[[int], None] = lambda _: None
    pacing: Pacing

    async def drive(self, task: PlannedTrial, underway: Underway | None = None) -> Driven:
        """Drive one trial; attempts that failed for outside reasons are made again.

        `underway` tells what was done, also where driving is cancelled.

        Raises:
            NotStarted: meanwhile it became clear that every trial of the model would fail.
        """
        underway = underway or Underway()
        pace = self.pacing.trial(task.model, self._budget())
        if not pace.start_now():
            await pace.start()
        try:
            driven = await self._driven(task, underway, pace)
        finally:
            pace.finish()
        pace.ended(driven.error)
        return driven

    def _budget(self) -> TimeBudget:
        return TimeBudget(
            turn_seconds=self.limits.turn_seconds,
            trial_seconds=self.limits.trial_seconds,
            wait_seconds=self.retries.max_wait_seconds,
        )

    async def _driven(self, task: PlannedTrial, underway: Underway, pace: TrialPace) -> Driven:
        tries, budget = underway.tries, pace.budget
        started = monotonic()
        first = await self._attempt(task, underway, pace)
        if first.error is not None:
            await self._try_again(task, underway, pace, failed=first.error)
        if budget.longest_step > BLOCKING_SECONDS:
            self.warn(
                f"an agent kept the event loop to itself for {budget.longest_step:.1f} s, and "
                "everybody else waiting: make it a plain function, or await what takes long"
            )
        return first if len(tries) == 1 else _joined(tries, elapsed=monotonic() - started)

    async def _try_again(
        self, task: PlannedTrial, underway: Underway, pace: TrialPace, *, failed: TargetError
    ) -> None:
        async def attempt() -> None:
            tried = await self._attempt(task, underway, pace)
            if tried.error is not None:
                raise tried.error

        # The error of the last attempt stands in `underway.tries`.
        with suppress(TargetError):
            await retry(
                attempt,
                may_retry=lambda error: self._may_retry(error, pace.budget),
                attempts=self.retries.attempts,
                pause=pace.pause,
                failed=failed,
            )

    def _may_retry(self, error: TargetError, budget: TimeBudget) -> bool:
        if not error.policy.retried or budget.waited_enough or self.is_stopping():
            return False
        return (error.retry_after or 0.0) <= self.retries.max_wait_seconds

    async def _attempt(self, task: PlannedTrial, underway: Underway, pace: TrialPace) -> Driven:
        draft, number, budget = _Draft(meter=pace.begin_attempt()), len(underway.tries), pace.budget
        underway.begin(draft)
        waited, spent = budget.waited + budget.held_up, budget.spent
        error, snapshots = await self._in_world(task, number, pace, draft)
        error = budget.explained(error) if error else None
        pace.attempt_ended(error)
        trajectory = draft.trajectory()
        waited = budget.waited + budget.held_up - waited
        record = Attempt(
            started_at=underway.started_at or now(),
            seconds=monotonic() - underway.started - waited,
            error=failure_of(error) if error else None,
            usage=trajectory.usage,
        )
        driven = Driven(
            trajectory=trajectory,
            error=error,
            snapshots=snapshots,
            attempts=(record,),
            seconds=budget.spent - spent,
            waiting_seconds=waited,
        )
        return underway.end(driven)

    async def _in_world(
        self, task: PlannedTrial, number: int, pace: TrialPace, draft: _Draft
    ) -> tuple[TargetError | None, dict[str, Any]]:
        if not self.worlds.of_scope("trial"):
            error = await self._talk(task, number, pace, draft, self.fixtures)
            return error, _state_of(draft)
        error, snapshots = None, {}
        try:
            async with self.worlds.opened("trial", {**self.fixtures, "sample": task.sample}) as own:
                fixtures = {**self.fixtures, **own}
                error = await self._talk(task, number, pace, draft, fixtures)
                snapshots = {**await self.worlds.snapshots(own), **_state_of(draft)}
        except TargetError as broken:
            error = error or broken
        return error, snapshots

    async def _talk(
        self,
        task: PlannedTrial,
        number: int,
        pace: TrialPace,
        draft: _Draft,
        fixtures: Mapping[str, Any],
    ) -> TargetError | None:
        context = AttemptContext(
            sample=task.sample,
            model=task.model,
            epoch=task.epoch,
            attempt=number,
            fixtures=fixtures,
            wait=partial(self._wait, pace),
            paced=pace.paced,
        )
        session: Session | None = None
        try:
            session = await pace.budget.turn(self.connection.open(context))
            await _converse(session, task.sample, pace, draft)
        except TargetError as error:
            if session is not None and error.policy.graded:
                await _tell_state(session, draft)
            return error
        except asyncio.CancelledError as error:
            current = asyncio.current_task()
            if current is None or current.cancelling():
                raise
            return TargetError(error_line(error), code="target_broke")
        except GeneratorExit:
            raise
        except BaseException as error:  # noqa: BLE001
            # A plug-in may raise anything; one trial pays for it.
            return TargetError(error_line(error), code="target_broke")
        finally:
            if session is not None:
                await self._close(session)
        return None

    async def _wait(self, pace: TrialPace, seconds: float) -> None:
        self.on_wait(1)
        try:
            await pace.wait(seconds)
        finally:
            self.on_wait(-1)

    async def _close(self, session: Session) -> None:
        try:
            work, limit = session.close(), Limit(_CLOSE_SECONDS)
            if limit.begin(work) is None:
                await limit.go_on(work)
        except Exception as error:  # noqa: BLE001  (the trial is over; its result stands)
            self.warn(f"an agent could not be closed: {self.tell(error)}")


async def _converse(session: Any, sample: Sample, pace: TrialPace, draft: _Draft) -> None:
    budget, session_starts = pace.budget, sample.session_starts
    for turn, text in enumerate(sample.turns):
        is_start = turn in session_starts
        if is_start:
            await budget.turn(_start_session(session))
        if pace.is_limited:
            await pace.begin_turn(session)
        draft.begin(text, new_session=is_start)
        await budget.turn(session.send(text, draft.record))
    if hasattr(session, "final_state"):
        draft.state = await budget.turn(session.final_state())


def _state_of(draft: _Draft) -> dict[str, Any]:
    return {} if draft.state is None else {AGENT_STATE: clean_json(draft.state)}


async def _start_session(session: Any) -> None:
    if not hasattr(session, "start_session"):
        raise TargetError("the agent keeps no memory between sessions", code="bad_request")
    await session.start_session()


async def _tell_state(session: Any, draft: _Draft) -> None:
    """Keep the state of an agent that failed, for show, where it can still be told."""
    if hasattr(session, "final_state"):
        with suppress(TargetError, TimeoutError):
            draft.state = await limited(session.final_state(), _CLOSE_SECONDS)


def failure_of(error: TargetError) -> Failure:
    """Return an error as it is stored: with its hint, without the values of secrets."""
    message = f"{error}; {error.hint}" if error.hint else str(error)
    # Cut twice: before, because redacting a huge text takes long; after, so that no half of a
    # secret is left at the end.
    return Failure(code=error.code, message=cut(redact(cut(message, 4 * _LONGEST)), _LONGEST))


def _joined(tries: Sequence[Driven], *, elapsed: float) -> Driven:
    attempts = tuple(attempt for tried in tries for attempt in tried.attempts)
    waited = elapsed - sum(attempt.seconds for attempt in attempts)
    return msgspec.structs.replace(
        tries[-1],
        attempts=attempts,
        seconds=sum(tried.seconds for tried in tries),
        waiting_seconds=max(waited, 0.0),
    )
