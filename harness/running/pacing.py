"""The pace of a run: which trial may go on now, and which may not start at all.

For each model there is a window of trials in flight, which its endpoint's refusals narrow, and the
rates of the suite; for the run as a whole there is the money. Where nothing is limited and nothing
refused, all of it costs a few comparisons a trial.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextvars import ContextVar
from functools import partial

from harness.loading.price_tables import Prices
from harness.running.budget_amounts import is_limited
from harness.running.budget_ledger import Flight, Ledger
from harness.running.pace_breakers import Breaker
from harness.running.pace_rates import Rates
from harness.running.pace_trials import ModelPace, TrialPace
from harness.running.pace_windows import Window
from harness.running.plans import PlannedTrial
from harness.running.stored_costs import PastTrial
from harness.running.workers import Stop
from harness.system.time_limits import TimeBudget
from harness.types.progress import Slowed
from harness.types.suites import Suite
from harness.types.trajectories import Usage

_flight: ContextVar[Flight | None] = ContextVar("flight", default=None)
_AHEAD = 1_000
"""How many jobs may be held back for models that have no place free."""

_Job = Callable[[PlannedTrial], Awaitable[None]]


def _unheard(_slowed: Slowed) -> None:
    """Hear nothing."""


class Pacing:
    """The pace of one run of a suite.

    `slowed` hears of the models that have fewer trials in flight than the suite allows; `spent` is
    what a resumed run has spent before, and `past` what its trials have cost. It is a `PriceList`
    for judges, and counts what they use.
    """

    def __init__(
        self,
        suite: Suite,
        stop: Stop,
        *,
        slowed: Callable[[Slowed], None] = _unheard,
        spent: Usage | None = None,
        past: Iterable[PastTrial] = (),
    ) -> None:
        self._suite, self._limits = suite, suite.limits
        self._stop, self._slowed = stop, slowed
        self._prices = Prices(suite.prices)
        self._ledger = self._make_ledger(spent) if is_limited(suite.limits) else None
        self._models: dict[str, ModelPace] = {}
        self._sharing = max(len(suite.target.models) if suite.target else 1, 1)
        drive = suite.target.fingerprint if suite.target else ""
        for one in past if self._ledger else ():
            self._recall(one, is_same_target=one.drive == drive)
        for model in suite.target.models if suite.target else ():
            # A list of prices takes its time to load, which no trial should wait for.
            self._prices.knows(model, self._url)

    @property
    def _url(self) -> str | None:
        target = self._suite.target
        return getattr(target.target, "url", None) if target else None

    def _make_ledger(self, spent: Usage | None) -> Ledger:
        specs = (inner for whole in self._suite.graders for inner in whole.with_parts)
        judges = sum(1 for spec in specs if hasattr(spec.grader, "grade_with"))
        attempts = self._suite.retries.attempts
        return Ledger(self._limits, self._end, attempts=attempts, judges=judges, spent=spent)

    def _recall(self, past: PastTrial, *, is_same_target: bool) -> None:
        if self._ledger is None:
            return
        priced = partial(self._prices.estimated, past.model, url=self._url)
        attempts = tuple(map(priced, past.attempts))
        replies = tuple(map(priced, past.replies))
        now_known = zip(attempts, past.attempts, strict=True)
        known = past._replace(attempts=attempts, replies=replies)
        self._ledger.recall(known, is_same_target=is_same_target)
        for usage, stored in now_known:
            if stored.cost_usd is None and usage.cost_usd is not None:
                self._ledger.spent_before(Usage(cost_usd=usage.cost_usd))

    def in_turn(self, jobs: Iterator[PlannedTrial]) -> Iterator[PlannedTrial]:
        """Return the jobs so that those go first whose model has a place free.

        Of a model that is slowed down, no more trials are begun than its share of the places, so
        that those which wait leave room for other models. So many jobs are held back at most as
        `_AHEAD` says.
        """
        return jobs if self._sharing == 1 else self._mixed(jobs)

    def _mixed(self, jobs: Iterator[PlannedTrial]) -> Iterator[PlannedTrial]:
        held: dict[str, deque[PlannedTrial]] = {}
        for job in jobs:
            while freed := self._freed(held):
                yield freed
            if self._has_room(job.model):
                yield job
                continue
            held.setdefault(job.model, deque()).append(job)
            if sum(map(len, held.values())) > _AHEAD:
                yield _oldest(held)
        while any(held.values()):
            yield self._freed(held) or _oldest(held)

    def _freed(self, held: dict[str, deque[PlannedTrial]]) -> PlannedTrial | None:
        for model, waiting in held.items():
            if waiting and self._has_room(model):
                return waiting.popleft()
        return None

    def _has_room(self, model: str) -> bool:
        pace = self.of(model)
        places = self._limits.concurrency
        is_slowed = pace.window.size < places
        share = max(places // self._sharing, 1)
        return pace.window.has_room and not (is_slowed and pace.begun.count >= share)

    def around(self, do: _Job) -> _Job:
        """Return `do`, begun only where there is money for it."""
        ledger = self._ledger
        if ledger is None:
            return do

        async def within(task: PlannedTrial) -> None:
            flight = await ledger.admit(task.model)
            token = _flight.set(flight)
            try:
                await do(task)
            finally:
                _flight.reset(token)
                ledger.land(flight)

        return within

    def trial(self, model: str, budget: TimeBudget) -> TrialPace:
        """Begin a trial, which has no place yet."""
        return TrialPace(self.of(model), budget, _flight.get())

    def of(self, model: str) -> ModelPace:
        """Return what the trials of a model share."""
        pace = self._models.get(model)
        if pace is None:
            pace = self._models[model] = self._made(model)
        return pace

    def _made(self, model: str) -> ModelPace:
        limits = self._limits
        return ModelPace(
            window=Window(limits.concurrency, self._resized),
            breaker=Breaker(model, limits.concurrency),
            tripped=partial(self._tripped, model),
            rates=Rates(limits) if limits.requests_per_minute or limits.tokens_per_minute else None,
            ledger=self._ledger,
            priced=partial(self._priced_reply, model, self._url),
        )

    def _priced_reply(self, model: str, url: str | None, usage: Usage) -> Usage:
        return self._prices.priced(model, usage, url)

    def priced(self, model: str, usage: Usage, url: str | None, /) -> Usage:
        """Return what a judge used with its cost, and count it."""
        usage = self._prices.priced(model, usage, url)
        if self._ledger is not None:
            self._ledger.judged(_flight.get(), usage)
        return usage

    def closing(self) -> Iterator[str]:
        """Return what is to be said at the end of prices and limits."""
        yield from self._prices.remarks()
        if self._ledger is not None and (over := self._ledger.closing()):
            yield over

    def _tripped(self, model: str) -> None:
        self._stop.leave_out(self.of(model).breaker.tripped)
        models = self._suite.target.models if self._suite.target else ()
        if all(self.of(name).breaker.tripped for name in models):
            self._stop.end()

    def _end(self, reason: str) -> None:
        self._stop.leave_out(reason)
        self._stop.end()

    def _resized(self, _size: int) -> None:
        most = self._limits.concurrency
        sizes = ((model, pace.window.size) for model, pace in self._models.items())
        self._slowed(tuple((model, size) for model, size in sizes if size < most))


def _oldest(held: dict[str, deque[PlannedTrial]]) -> PlannedTrial:
    return min(filter(None, held.values()), key=lambda waiting: waiting[0].index).popleft()
