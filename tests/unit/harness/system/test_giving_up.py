"""Work that resists its time limit, and work that suffers from others."""

import asyncio
import time

import pytest

from harness.system import time_limits
from harness.system.time_limits import Limit


@pytest.fixture(autouse=True)
def short_grace(monkeypatch):
    monkeypatch.setattr(time_limits, "GRACE_SECONDS", 0.1)


async def swallow(until):
    while not until:
        try:
            await asyncio.sleep(0.2)
        except asyncio.CancelledError:
            continue


async def await_a_task(until):
    await asyncio.create_task(swallow(until))


@pytest.mark.parametrize("work", [swallow, await_a_task])
async def test_work_that_swallows_every_cancellation_is_given_up(work):
    limit, until = Limit(0.05), []
    with pytest.raises(TimeoutError):
        await limit.run(work(until))
    assert limit.expired
    until.append("the test is over")


async def test_work_may_clean_up_after_its_time():
    cleaned = []

    async def tidy():
        try:
            await asyncio.sleep(10)
        finally:
            await asyncio.sleep(0.01)
            cleaned.append("yes")

    with pytest.raises(TimeoutError):
        await Limit(0.05).run(tidy())
    assert cleaned == ["yes"]


async def test_a_task_that_the_work_awaits_is_cancelled_with_it():
    child = asyncio.create_task(asyncio.sleep(10))

    async def work():
        await child

    with pytest.raises(TimeoutError):
        await Limit(0.05).run(work())
    assert child.cancelled()


async def test_who_blocks_the_loop_is_over_time_and_nobody_else():
    async def block():
        await asyncio.sleep(0.05)
        time.sleep(0.6)  # noqa: ASYNC251  (this is what is tested)
        return "blocked"

    async def innocent():
        await asyncio.sleep(0.15)
        return "fine"

    limit = Limit(0.3)
    results = await asyncio.gather(
        limit.run(block()), *(Limit(0.3).run(innocent()) for _ in range(3)), return_exceptions=True
    )
    assert isinstance(results[0], TimeoutError)
    assert limit.longest_step > 0.5
    assert results[1:] == ["fine"] * 3


async def test_timeouts_of_the_works_own_may_come_again_and_again():
    async def work():
        seen = 0
        for _ in range(3):
            try:
                async with asyncio.timeout(0.01):
                    await asyncio.sleep(10)
            except TimeoutError:
                seen += 1
        return seen

    assert await Limit(5).run(work()) == 3


async def test_a_cancellation_from_outside_passes_through_to_what_is_awaited():
    child = asyncio.create_task(asyncio.sleep(10))

    async def work():
        await child

    task = asyncio.create_task(Limit(5).run(work()))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert child.cancelled()
    assert task.cancelled()


async def test_a_task_group_in_the_work_ends_with_it():
    async def work():
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(10))
            await asyncio.sleep(10)

    with pytest.raises(TimeoutError):
        await Limit(0.05).run(work())
