"""Money and tokens of a run: reserved before, counted as they go."""

import asyncio

import pytest

from harness.running.budget_amounts import spending_rule
from harness.running.budget_ledger import Ledger
from harness.running.workers import NotStarted
from harness.types.suites import Limits
from harness.types.trajectories import Usage


class Run:
    """A ledger, and why it ended the run."""

    def __init__(self, *, attempts=1, judges=0, spent=None, **limits):
        self.reasons = []
        self.ledger = Ledger(
            Limits(**limits), self.reasons.append, attempts=attempts, judges=judges, spent=spent
        )

    async def trial(self, usd, model="m"):
        """Make a trial of one attempt and one reply."""
        flight = await self.ledger.admit(model)
        self.finish(flight, usd)

    def finish(self, flight, usd):
        self.reply(flight, usd)
        self.ledger.attempt_ended(flight, driven=True)
        self.ledger.land(flight)

    def reply(self, flight, usd):
        usage = Usage(input_tokens=100, output_tokens=10, cost_usd=usd)
        self.ledger.replied(flight, usage)

    async def is_admitted(self, model="m"):
        """Say whether a trial is admitted at once; it stays in flight."""
        task = asyncio.create_task(self.ledger.admit(model))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return None
        return task.result()


async def test_the_first_trial_of_each_model_runs_alone():
    run = Run(max_cost_usd=1.0)
    first = await run.is_admitted()
    assert first is not None
    assert await run.is_admitted() is None
    assert await run.is_admitted("other") is not None
    run.finish(first, 0.01)
    assert await run.is_admitted() is not None
    assert await run.is_admitted() is not None


async def test_a_trial_that_might_not_fit_waits_for_those_in_flight():
    run = Run(max_cost_usd=0.35)
    await run.trial(0.1)
    one, other = await run.is_admitted(), await run.is_admitted()
    assert one
    assert other
    assert await run.is_admitted() is None
    # It cost less than it might have: what it did not need is free again.
    run.finish(one, 0.02)
    assert await run.is_admitted() is not None
    assert run.reasons == []


async def test_what_a_trial_in_flight_has_spent_is_reserved_no_longer():
    run = Run(max_cost_usd=1.0, attempts=4)
    await run.trial(0.1)
    flight = await run.is_admitted()
    assert flight.left.usd == pytest.approx(0.4)
    run.reply(flight, 0.3)
    assert flight.left.usd == pytest.approx(0.1)
    run.reply(flight, 0.3)
    assert flight.left.usd == 0.0


async def test_every_attempt_that_may_be_made_is_reserved():
    run = Run(max_cost_usd=1.0, attempts=3)
    await run.trial(0.3)
    with pytest.raises(NotStarted):
        await run.ledger.admit("m")


async def test_the_run_ends_when_nothing_is_in_flight_and_the_next_trial_might_not_fit():
    run = Run(max_cost_usd=0.25)
    await run.trial(0.1)
    await run.trial(0.1)
    with pytest.raises(NotStarted):
        await run.ledger.admit("m")
    (reason,) = run.reasons
    assert reason.startswith("limits.max_cost_usd 0.25 ended the run: another trial might not fit")
    assert reason.endswith("; $0.2000 was spent by then")
    assert run.ledger.closing() == ""


async def test_a_limit_that_is_met_to_the_cent_is_kept():
    run = Run(max_cost_usd=0.7)
    for _ in range(7):
        await run.trial(0.1)
    assert run.reasons == []
    assert run.ledger.closing() == ""


async def test_where_the_limit_is_passed_nobody_may_ask_again():
    run = Run(max_cost_usd=0.25)
    await run.trial(0.1)
    flight = await run.is_admitted()
    run.reply(flight, 0.3)
    # A trial that needs nothing more ends well.
    assert run.reasons == []
    assert not run.ledger.has_money()
    assert "it was passed" in run.reasons[0]
    assert run.ledger.closing().startswith(
        "limits.max_cost_usd 0.25: $0.4000 was spent, over by $0.1500; the costliest reply took"
    )


async def test_who_waits_when_the_run_ends_is_not_started():
    run = Run(max_cost_usd=0.25)
    await run.trial(0.1)
    flight = await run.is_admitted()
    waiting = [asyncio.create_task(run.ledger.admit("m")) for _ in range(3)]
    await asyncio.sleep(0)
    run.reply(flight, 0.3)
    assert not run.ledger.has_money()
    run.ledger.land(flight)
    ended = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(one, NotStarted) for one in ended)
    assert len(run.reasons) == 1


async def test_tokens_are_limited_alike():
    run = Run(max_tokens=250)
    await run.trial(None)
    await run.trial(None)
    with pytest.raises(NotStarted):
        await run.ledger.admit("m")
    assert "limits.max_tokens 250 ended the run" in run.reasons[0]
    assert "220 tokens was spent" in run.reasons[0]


async def test_what_was_spent_before_counts():
    run = Run(max_cost_usd=0.3, spent=Usage(cost_usd=0.25))
    await run.trial(0.1)
    with pytest.raises(NotStarted):
        await run.ledger.admit("m")


async def test_nothing_starts_where_all_was_spent_before():
    run = Run(max_cost_usd=0.3, spent=Usage(cost_usd=0.3))
    with pytest.raises(NotStarted):
        await run.ledger.admit("m")


async def test_a_reply_that_does_not_say_what_it_used_counts_as_the_costliest():
    run = Run(max_cost_usd=0.35)
    await run.trial(0.1)
    flight = await run.is_admitted()
    run.ledger.replied(flight, Usage())
    run.ledger.attempt_ended(flight, driven=False)
    run.ledger.land(flight)
    assert await run.is_admitted()
    assert await run.is_admitted() is None


async def test_a_model_whose_replies_never_say_what_they_used_ends_the_run():
    run = Run(max_cost_usd=1.0)
    flight = await run.ledger.admit("m")
    run.ledger.replied(flight, Usage(input_tokens=3))
    run.ledger.attempt_ended(flight, driven=True)
    run.ledger.land(flight)
    with pytest.raises(NotStarted):
        await run.ledger.admit("m")
    assert "the replies of m do not say what they used" in run.reasons[0]


async def test_an_outage_of_the_first_trial_leaves_the_next_one_to_learn():
    run = Run(max_cost_usd=1.0)
    flight = await run.ledger.admit("m")
    run.ledger.attempt_ended(flight, driven=False)
    run.ledger.land(flight)
    assert await run.is_admitted()
    assert await run.is_admitted() is None
    assert run.reasons == []


async def test_judges_are_counted_and_reserved():
    run = Run(max_cost_usd=1.0, judges=2)
    flight = await run.ledger.admit("m")
    run.reply(flight, 0.1)
    run.ledger.attempt_ended(flight, driven=True)
    run.ledger.judged(flight, Usage(input_tokens=1, output_tokens=1, cost_usd=0.2))
    run.ledger.land(flight)
    assert (await run.is_admitted()).reserved.usd == pytest.approx(0.5)
    assert await run.is_admitted() is None


def test_the_rule_says_by_how_much_a_run_can_go_over():
    text = spending_rule(Limits(max_cost_usd=2.5, max_tokens=10_000, concurrency=7))
    assert text.startswith("limits.max_cost_usd 2.5 and limits.max_tokens 10,000: ")
    assert "At most 7 trials are in flight" in text
