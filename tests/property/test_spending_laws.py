"""Laws of money and places: what is promised is kept, whatever trials cost and however they end."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from harness.running.budget_ledger import Ledger
from harness.running.pace_windows import Window
from harness.running.workers import NotStarted
from harness.types.suites import Limits
from harness.types.trajectories import Usage

costs = st.one_of(st.none(), st.floats(0.0, 2.0, allow_nan=False))
attempts = st.lists(costs, min_size=1, max_size=3)
spent_trials = st.lists(
    st.tuples(st.sampled_from("ab"), st.lists(attempts, min_size=1, max_size=2)), max_size=25
)


class Run:
    """Trials that go on together, each reply a step of the loop."""

    def __init__(self, limit, concurrency):
        self.reasons, self.replies = [], []
        limits = Limits(max_cost_usd=limit, concurrency=concurrency)
        self.ledger = Ledger(limits, self.reasons.append, attempts=2)
        self._places = asyncio.Semaphore(concurrency)

    async def trial(self, model, tries):
        async with self._places:
            try:
                flight = await self.ledger.admit(model)
            except NotStarted:
                return "not started"
            try:
                return await self._drive(flight, tries)
            finally:
                self.ledger.land(flight)

    async def _drive(self, flight, tries):
        for replies in tries:
            for cost in replies:
                if not self.ledger.has_money():
                    return "interrupted"
                await asyncio.sleep(0)
                self.replies.append(cost)
                tokens = 1 if cost is not None else None
                usage = Usage(input_tokens=tokens, output_tokens=tokens, cost_usd=cost)
                self.ledger.replied(flight, usage)
            self.ledger.attempt_ended(flight, driven=True)
        return "done"

    async def all(self, planned):
        return await asyncio.gather(*(self.trial(*one) for one in planned))


@given(spent_trials, st.floats(0.1, 10.0), st.integers(1, 5))
def test_a_run_goes_over_by_one_reply_a_trial_in_flight_at_most(planned, limit, concurrency):
    run = Run(limit, concurrency)
    ended = asyncio.run(run.all(planned))
    known = [cost for cost in run.replies if cost is not None]
    assert sum(known) <= limit + concurrency * max(known, default=0.0) + 1e-9
    assert len(ended) == len(planned)
    # Whatever was left out is told, once; a run that left nothing out ends by itself.
    left_out = [one for one in ended if one != "done"]
    assert len(run.reasons) <= 1
    assert bool(run.reasons) >= bool(left_out)


@given(spent_trials, st.integers(1, 5))
def test_a_limit_that_all_trials_fit_into_ends_nothing(planned, concurrency):
    planned = [(model, [[c or 0.0 for c in one] for one in tries]) for model, tries in planned]
    run = Run(1e6, concurrency)
    assert asyncio.run(run.all(planned)) == ["done"] * len(planned)
    assert run.reasons == []


moves = st.lists(st.sampled_from(["take", "leave", "refuse", "old", "answer"]), max_size=60)


@given(st.integers(1, 12), moves)
def test_a_window_never_lets_in_more_than_it_has_places_nor_closes(places, steps):
    window, taken = Window(places), 0
    for step in steps:
        if step == "take":
            before = window.size
            entered = window.take_now()
            assert entered == (taken + 1 <= before)
            taken += entered
        elif step == "leave" and taken:
            window.leave()
            taken -= 1
        elif step == "refuse":
            before = window.size
            window.refused(window.halvings)
            assert window.size == max(before // 2, 1)
        elif step == "old":
            before = window.size
            window.refused(window.halvings - 1)
            assert window.size == before
        else:
            window.answered()
        assert 1 <= window.size <= places
