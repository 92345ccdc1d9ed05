"""The pace of one trial: its place among those in flight, its turn to ask, its money."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from harness.running.budget_ledger import Flight, Ledger
from harness.running.pace_breakers import Breaker
from harness.running.pace_rates import Rates
from harness.running.pace_windows import Window
from harness.running.workers import NotStarted
from harness.system.time_limits import TimeBudget
from harness.types.errors import TargetError
from harness.types.trajectories import Step, Usage

_BUSY = frozenset({"overloaded", "rate_limited"})


@dataclass(slots=True)
class Begun:
    """How many trials of a model have begun and not ended, those included that wait."""

    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPace:
    """What the trials of one model share.

    `rates` and `ledger` are None where the suite limits none; `priced` adds what a reply cost, as
    far as that is known. `tripped` is called when the breaker has tripped.
    """

    window: Window
    breaker: Breaker
    tripped: Callable[[], None]
    priced: Callable[[Usage], Usage]
    rates: Rates | None = None
    ledger: Ledger | None = None
    begun: Begun = field(default_factory=Begun)


class TrialPace:
    """One trial's pace; `budget` is its time, which no waiting here is charged to."""

    __slots__ = ("_flight", "_halvings", "_has_place", "_is_paced", "_of_model", "budget")

    def __init__(self, of_model: ModelPace, budget: TimeBudget, flight: Flight | None) -> None:
        self._of_model, self._flight = of_model, flight
        self._has_place = self._is_paced = False
        self._halvings = 0
        self.budget = budget

    def start_now(self) -> bool:
        """Take a place where one is free; say whether that was so.

        Raises:
            NotStarted: it has become clear that every trial of the model would fail.
        """
        of_model = self._of_model
        if of_model.breaker.tripped:
            raise NotStarted
        self._has_place = has_place = of_model.window.take_now()
        of_model.begun.count += has_place
        return has_place

    async def start(self) -> None:
        """Wait for a place and take it; raises as `start_now` does."""
        await self._of_model.window.take()
        self._has_place = True
        self._of_model.begun.count += 1
        if self._of_model.breaker.tripped:
            self.finish()
            raise NotStarted

    def leave(self) -> None:
        """Give the place back, if there is one."""
        if self._has_place:
            self._has_place = False
            self._of_model.window.leave()

    def finish(self) -> None:
        """Leave for good; called once for a trial that has begun."""
        of_model = self._of_model
        if self._has_place:
            self._has_place = False
            of_model.window.leave()
        of_model.begun.count -= 1

    def ended(self, error: TargetError | None) -> None:
        """Take how the trial ended."""
        if self._of_model.breaker.ended(error):
            self._of_model.tripped()

    async def wait(self, seconds: float) -> None:
        """Wait as long as the endpoint asked, without a place.

        Raises:
            TargetError: the suite does not allow so long a wait.
        """
        self.leave()
        await self.budget.wait(seconds)
        await self._return()

    async def pause(self, seconds: float, _error: TargetError) -> None:
        """Wait between two attempts, without a place."""
        self.leave()
        await asyncio.sleep(seconds)
        await self._return()

    async def _return(self) -> None:
        window = self._of_model.window
        if not window.take_now():
            with self.budget.paused():
                await window.take()
        self._has_place = True

    async def paced(self, request: Callable[[], Awaitable[Any]]) -> Any:
        """Make a request when its turn has come; its answer or refusal changes the window.

        Raises:
            TargetError: `interrupted`, where there is no money for it.
        """
        self._is_paced = True
        await self._turn()
        window = self._of_model.window
        halvings = window.halvings
        try:
            answer = await request()
        except TargetError as error:
            if error.code in _BUSY:
                window.refused(halvings)
            raise
        window.answered()
        return answer

    @property
    def is_limited(self) -> bool:
        """Say whether there are limits that a turn of a conversation may meet."""
        return self._of_model.rates is not None or self._of_model.ledger is not None

    async def begin_turn(self, session: Any) -> None:
        """Wait for the turn of a session that makes its requests by itself.

        Raises:
            TargetError: `interrupted`, where there is no money for it.
        """
        if not getattr(session, "paces_requests", False):
            await self._turn()

    async def _turn(self) -> None:
        self._require_money()
        if self._of_model.rates is not None:
            with self.budget.paused():
                await self._of_model.rates.turn()
            self._require_money()

    def _require_money(self) -> None:
        ledger = self._of_model.ledger
        if ledger is not None and not ledger.has_money():
            raise TargetError("the run had spent what its limits allow", code="interrupted")

    def begin_attempt(self) -> Callable[[Step], Step]:
        """Begin an attempt; return what counts a reply and adds its cost."""
        self._halvings = self._of_model.window.halvings
        return self._metered

    def attempt_ended(self, error: TargetError | None) -> None:
        """Take how an attempt ended."""
        if self._flight is not None and self._of_model.ledger is not None:
            self._of_model.ledger.attempt_ended(self._flight, driven=error is None)
        if self._is_paced:
            return
        if error is None:
            self._of_model.window.answered()
        elif error.code in _BUSY:
            self._of_model.window.refused(self._halvings)

    def _metered(self, step: Step) -> Step:
        of = self._of_model
        usage = of.priced(step.usage)
        if of.rates is not None:
            of.rates.owe(usage)
        if self._flight is not None and of.ledger is not None:
            of.ledger.replied(self._flight, usage)
        return step if usage is step.usage else msgspec.structs.replace(step, usage=usage)
