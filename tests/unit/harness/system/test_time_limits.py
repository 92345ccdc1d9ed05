"""Time limits that waiting for an endpoint does not count against."""

import asyncio
import gc

import pytest

from harness.system.time_limits import TimeBudget
from harness.types.errors import TargetError


def budget(turn=None, trial=None, wait=10.0):
    return TimeBudget(turn_seconds=turn, trial_seconds=trial, wait_seconds=wait)


async def nap(seconds):
    await asyncio.sleep(seconds)
    return "done"


async def fail(error):
    raise error


async def test_a_turn_that_takes_too_long_says_which_limit_it_hit():
    with pytest.raises(TargetError, match=r"limits\.turn_seconds: 0\.05") as caught:
        await budget(turn=0.05, trial=10.0).turn(nap(10))
    assert caught.value.code == "turn_timeout"


async def answer():
    return "done"


async def test_work_that_never_waits_leaves_nothing_to_collect():
    gc.collect()
    gc.disable()
    try:
        assert await budget(turn=10.0).turn(answer()) == "done"
        left = gc.collect()
    finally:
        gc.enable()
    assert left == 0


async def test_turns_that_are_short_each_can_use_up_the_trial():
    limits = budget(turn=10.0, trial=0.1)

    async def turns():
        for _ in range(50):
            await limits.turn(nap(0.02))

    with pytest.raises(TargetError) as caught:
        await turns()
    assert caught.value.code == "trial_timeout"


async def test_a_turn_gives_what_the_agent_gives_whether_it_waits_or_not():
    async def at_once():
        return "now"

    limits = budget(turn=10.0)
    assert await limits.turn(at_once()) == "now"
    assert await limits.turn(nap(0.01)) == "done"


async def test_waiting_is_not_counted():
    limits = budget(turn=0.2, trial=0.3)

    async def turn():
        await limits.wait(0.35)
        await asyncio.sleep(0.01)
        await limits.wait(0.1)

    await limits.turn(turn())
    await limits.turn(turn())
    assert limits.waited == pytest.approx(0.9)


@pytest.mark.parametrize(("asked", "told"), [(3600, True), (10, False), (None, False)])
def test_an_error_whose_wait_is_too_long_says_when_it_would_end(asked, told):
    error = TargetError("429", code="rate_limited", retry_after=asked, hint="wait")
    explained = budget(wait=10.0).explained(error)
    assert (" UTC) more" in str(explained)) == told
    assert (explained.code, explained.retry_after, explained.hint) == (
        "rate_limited",
        asked,
        "wait",
    )


async def test_more_waiting_than_allowed_is_refused_at_once_with_the_time_asked_for():
    with pytest.raises(TargetError, match="max_wait_seconds") as caught:
        await budget(wait=5.0).wait(3600)
    assert (caught.value.code, caught.value.retry_after) == ("rate_limited", 3600)


async def test_another_time_out_inside_a_turn_is_not_taken_for_ours():
    async def late():
        await asyncio.sleep(0)
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await budget(turn=10.0).turn(late())
    with pytest.raises(TimeoutError):
        await budget(turn=10.0).turn(fail(TimeoutError()))


async def test_an_error_inside_a_turn_passes():
    with pytest.raises(TargetError) as caught:
        await budget(turn=10.0).turn(fail(TargetError("cut", code="stream_cut")))
    assert caught.value.code == "stream_cut"


async def test_code_that_swallows_its_cancellation_is_still_over_time():
    async def stubborn():
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            return

    with pytest.raises(TargetError) as caught:
        await budget(turn=0.05).turn(stubborn())
    assert caught.value.code == "turn_timeout"


async def test_a_turn_that_is_cancelled_from_outside_is_cancelled():
    seen = []

    async def turn():
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    task = asyncio.create_task(budget(turn=10.0).turn(turn()))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["cancelled"]


async def test_a_turn_may_use_tasks_timeouts_and_threads_of_its_own():
    async def turn():
        async with asyncio.timeout(5), asyncio.TaskGroup() as group:
            tasks = [group.create_task(nap(0.01)) for _ in range(3)]
        return [task.result() for task in tasks] + [await asyncio.to_thread(abs, -1)]

    assert await budget(turn=10.0).turn(turn()) == ["done"] * 3 + [1]


async def test_no_limit_is_no_limit():
    assert await budget().turn(nap(0)) == "done"


async def test_a_cancellation_keeps_its_message_by_which_libraries_know_their_own():
    async def agent():
        task = asyncio.current_task()
        asyncio.get_running_loop().call_soon(task.cancel, "my own")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError as error:
            task.uncancel()
            return error.args

    assert await budget(turn=20).turn(agent()) == ("my own",)
