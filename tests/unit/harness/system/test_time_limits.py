"""Time limits that waiting for an endpoint does not count against."""

import asyncio

import pytest

from harness.system.time_limits import Patience
from harness.types.errors import TargetError


def patience(turn=None, trial=None, wait=10.0):
    return Patience(turn_seconds=turn, trial_seconds=trial, wait_seconds=wait)


async def test_a_turn_that_takes_too_long_says_which_limit_it_hit():
    with pytest.raises(TargetError, match=r"limits\.turn_seconds: 0\.05") as caught:
        async with patience(turn=0.05, trial=10.0):
            await asyncio.sleep(10)
    assert caught.value.code == "turn_timeout"


async def test_turns_that_are_short_each_can_use_up_the_trial():
    limits = patience(turn=10.0, trial=0.1)

    async def turns():
        for _ in range(50):
            async with limits:
                await asyncio.sleep(0.02)

    with pytest.raises(TargetError) as caught:
        await turns()
    assert caught.value.code == "trial_timeout"


async def test_waiting_is_not_counted():
    limits = patience(turn=0.2, trial=0.3)
    async with limits:
        await limits.wait(0.35)
    async with limits:
        await limits.wait(0.35)
    assert limits.waited == pytest.approx(0.7)


async def test_more_waiting_than_allowed_is_refused_at_once_with_the_time_asked_for():
    with pytest.raises(TargetError, match="max_wait_seconds") as caught:
        await patience(wait=5.0).wait(3600)
    assert (caught.value.code, caught.value.retry_after) == ("rate_limited", 3600)


async def test_another_time_out_inside_a_turn_is_not_taken_for_ours():
    with pytest.raises(TimeoutError):
        async with patience(turn=10.0):
            raise TimeoutError


async def test_an_error_inside_a_turn_passes():
    with pytest.raises(TargetError) as caught:
        async with patience(turn=10.0):
            raise TargetError("cut", code="stream_cut")
    assert caught.value.code == "stream_cut"


async def test_code_that_swallows_its_cancellation_is_still_over_time():
    async def stubborn():
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            return

    with pytest.raises(TargetError) as caught:
        async with patience(turn=0.05):
            await stubborn()
    assert caught.value.code == "turn_timeout"


async def test_no_limit_is_no_limit():
    async with patience():
        await asyncio.sleep(0)
