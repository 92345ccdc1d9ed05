"""How many requests and tokens a minute a model is asked for."""

import asyncio

import pytest

from harness.running.pace_rates import Rates
from harness.system.clock import monotonic
from harness.types.suites import Limits
from harness.types.trajectories import Usage


async def times_of(rates, requests):
    started = monotonic()
    times = []

    async def ask():
        await rates.turn()
        times.append(monotonic() - started)

    await asyncio.gather(*(ask() for _ in range(requests)))
    return times


async def test_requests_are_spread_over_the_minute():
    times = await times_of(Rates(Limits(requests_per_minute=1200)), 5)
    assert all(time >= 0.05 * n - 0.005 for n, time in enumerate(times))


async def test_what_a_reply_used_delays_the_requests_that_follow():
    rates = Rates(Limits(tokens_per_minute=6000))
    await asyncio.wait_for(times_of(rates, 100), 5)
    rates.owe(Usage(input_tokens=100, output_tokens=25))
    times = await times_of(rates, 2)
    # The first hundred are within the second's allowance.
    assert min(times) >= 0.2


async def test_a_debt_is_paid_once():
    rates = Rates(Limits(tokens_per_minute=600))
    rates.owe(Usage(input_tokens=5, output_tokens=8))
    assert (await times_of(rates, 1))[0] >= 0.25
    # Paying each of these again would take a minute.
    await asyncio.wait_for(times_of(rates, 50), 10)


@pytest.mark.parametrize("usage", [Usage(), Usage(cost_usd=1.0)])
async def test_what_is_not_known_delays_nobody(usage):
    rates = Rates(Limits(tokens_per_minute=1))
    rates.owe(usage)
    await asyncio.wait_for(rates.turn(), 5)


async def test_who_is_cancelled_leaves_the_debt_to_the_next():
    rates = Rates(Limits(tokens_per_minute=6000))
    rates.owe(Usage(output_tokens=100))
    rates.owe(Usage(output_tokens=50))
    waiting = asyncio.create_task(rates.turn())
    await asyncio.sleep(0.05)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (await times_of(rates, 1))[0] >= 0.3
