"""What a run may spend: money and tokens, reserved before a trial begins and counted as they go.

A trial in flight reserves the costliest attempt of its model so far, as often as it may be made,
and the costliest answers of judges. The first trial of a model runs alone, to learn what one costs;
a run that is resumed has learnt it.
"""

import asyncio
from collections.abc import Callable

from harness.running.budget_amounts import (
    Amount,
    beyond,
    ended_by,
    fits,
    known_amount,
    limits_shown,
    says_enough,
    shown,
)
from harness.running.stored_costs import PastTrial
from harness.running.workers import NotStarted
from harness.types.suites import Limits
from harness.types.trajectories import Usage

_SOMETHING = Amount(0.000_001, 1)
"""What a trial needs at least that nothing is known of: where nothing is left it does not start."""


class Flight:
    """One trial in flight: what it has reserved, and what it has spent."""

    def __init__(self, model: str, reserved: Amount) -> None:
        self.model = model
        self.reserved = reserved
        self.spent = Amount()
        self.attempt = Amount()
        self.is_known = False
        self.was_driven = False

    @property
    def left(self) -> Amount:
        """Return what is still reserved."""
        return self.reserved.less(self.spent)


class Ledger:
    """What the trials of a run spend, held against its limits.

    `attempts` is how often a trial may be tried, `judges` how many answers of judges it asks for,
    `spent` what was spent before. `end` ends the run, with a reason.
    """

    def __init__(
        self,
        limits: Limits,
        end: Callable[[str], None],
        *,
        attempts: int,
        judges: int = 0,
        spent: Usage | None = None,
    ) -> None:
        self._limits, self._end = limits, end
        self._attempts, self._judges = attempts, judges
        self._spent = known_amount(spent or Usage())
        self._open = Amount()
        self._flights: set[Flight] = set()
        self._costliest_attempt: dict[str, Amount] = {}
        self._costliest_reply: dict[str, Amount] = {}
        self._costliest_answer = Amount()
        self._driven: set[str] = set()
        self._gate, self._news = asyncio.Lock(), asyncio.Event()
        self._ended = False

    def recall(self, past: PastTrial, *, is_same_target: bool) -> None:
        """Learn from a trial that was stored before what trials cost; it is spent already.

        A model that has never said what it used is known as such, unless its target has changed.
        """
        model = past.model
        said = [usage for usage in past.replies if says_enough(usage, self._limits)]
        for usage in said:
            self._learn(self._costliest_reply, model, known_amount(usage))
        reply = self._costliest_reply.get(model, Amount())
        guessed = reply.times(len(past.replies) - len(said))
        self._spent = self._spent.plus(guessed)
        for place, usage in enumerate(past.attempts, start=1):
            if says_enough(usage, self._limits):
                is_last = place == len(past.attempts)
                amount = known_amount(usage).plus(guessed if is_last else Amount())
                self._learn(self._costliest_attempt, model, amount)
        for usage in past.judged:
            self._costliest_answer = self._costliest_answer.most(known_amount(usage))
        if past.is_driven and is_same_target:
            self._driven.add(model)

    def spent_before(self, usage: Usage) -> None:
        """Add what was spent before, besides what was told at first."""
        self._spent = self._spent.plus(known_amount(usage))

    @staticmethod
    def _learn(known: dict[str, Amount], model: str, amount: Amount) -> None:
        known[model] = known.get(model, Amount()).most(amount)

    async def admit(self, model: str) -> Flight:
        """Wait until a trial of a model fits into what is left, and reserve that.

        Raises:
            NotStarted: it never will.
        """
        async with self._gate:
            while self.has_money() and self._says(model):
                needed = self._needed(model)
                if needed is not None and fits(
                    self._spent.plus(self._open).plus(needed), self._limits
                ):
                    return self._take_off(model, needed)
                if not self._flights:
                    self._stop("another trial might not fit into what is left")
                    break
                self._news.clear()
                await self._news.wait()
            raise NotStarted

    def has_money(self) -> bool:
        """Say whether a further reply may be asked for; the run ends where it may not."""
        if not self._ended and beyond(self._spent, self._limits) != Amount():
            self._stop("it was passed")
        return not self._ended

    def land(self, flight: Flight) -> None:
        """Free what a trial that has ended did not spend."""
        self._flights.discard(flight)
        # Rounding would add up over a long run.
        self._open = self._open.less(flight.left) if self._flights else Amount()
        if flight.was_driven:
            self._driven.add(flight.model)
            self._says(flight.model)
        self._news.set()

    def _says(self, model: str) -> bool:
        """Say whether a model may tell what its replies use; the run ends where it never does."""
        if model in self._driven and model not in self._costliest_attempt:
            self._stop(f"the replies of {model} do not say what they used")
        return not self._ended

    def replied(self, flight: Flight, usage: Usage) -> None:
        """Count a reply; one that does not say what it used counts as the costliest so far."""
        costliest = self._costliest_reply.get(flight.model, Amount())
        amount = known_amount(usage)
        if says_enough(usage, self._limits):
            self._learn(self._costliest_reply, flight.model, amount)
            flight.is_known = True
        else:
            amount = amount.most(costliest)
        flight.attempt = flight.attempt.plus(amount)
        self._count(flight, amount)

    def judged(self, flight: Flight | None, usage: Usage) -> None:
        """Count an answer of a judge, by the same rule."""
        amount = known_amount(usage)
        self._costliest_answer = self._costliest_answer.most(amount)
        known = says_enough(usage, self._limits)
        self._count(flight, amount if known else self._costliest_answer)

    def attempt_ended(self, flight: Flight, *, driven: bool) -> None:
        """Learn what an attempt costs, where its replies said so."""
        if flight.is_known:
            self._learn(self._costliest_attempt, flight.model, flight.attempt)
        flight.attempt = Amount()
        flight.was_driven = driven

    def closing(self) -> str:
        """Say at the end by how much the limits were passed; empty where they were kept."""
        over = beyond(self._spent, self._limits)
        if over == Amount():
            return ""
        reply = Amount()
        for costliest in self._costliest_reply.values():
            reply = reply.most(costliest)
        return (
            f"{limits_shown(self._limits)}: {shown(self._spent, self._limits)} was spent, over by "
            f"{shown(over, self._limits)}; the costliest reply took {shown(reply, self._limits)}, "
            f"and {self._limits.concurrency} could be in flight"
        )

    def _needed(self, model: str) -> Amount | None:
        """Return what a trial of a model may cost; None while its first one is in flight."""
        known = self._costliest_attempt.get(model)
        if known is not None:
            return known.times(self._attempts).plus(self._costliest_answer.times(self._judges))
        return None if any(flight.model == model for flight in self._flights) else _SOMETHING

    def _take_off(self, model: str, reserved: Amount) -> Flight:
        flight = Flight(model, reserved)
        self._flights.add(flight)
        self._open = self._open.plus(reserved)
        return flight

    def _count(self, flight: Flight | None, amount: Amount) -> None:
        if flight in self._flights and flight is not None:
            self._open = self._open.less(flight.left)
            flight.spent = flight.spent.plus(amount)
            self._open = self._open.plus(flight.left)
        self._spent = self._spent.plus(amount)

    def _stop(self, why: str) -> None:
        if self._ended:
            return
        self._ended = True
        spent = shown(self._spent, self._limits)
        self._end(f"{ended_by(self._limits)}{why}; {spent} was spent by then")
        self._news.set()
