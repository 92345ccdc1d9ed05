import asyncio
import threading
import time
from contextvars import ContextVar

import pytest

from harness.system.guarded_loops import GuardedLoops
from harness.system.user_calls import UserCodeError, caller_of


async def call(loops, function, seconds=30.0):
    return await loops.call(function, caller_of(function), seconds=seconds)


async def quick():
    await asyncio.sleep(0)
    return threading.get_ident()


async def test_functions_share_one_loop_that_is_not_the_callers():
    loops = GuardedLoops()
    places = {await call(loops, quick) for _ in range(3)}
    assert len(places) == 1
    assert places != {threading.get_ident()}


async def test_errors_and_overruns_are_told_and_the_loop_goes_on():
    loops = GuardedLoops()
    cancelled = threading.Event()

    async def hangs():
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async def leaves():
        asyncio.get_running_loop().stop()
        asyncio.ensure_future(_leave())  # noqa: RUF006  (nobody keeps it)
        await asyncio.sleep(0)
        raise SystemExit(3)

    async def _leave():
        raise SystemExit(4)

    with pytest.raises(TimeoutError):
        await call(loops, hangs, 0.05)
    with pytest.raises(UserCodeError, match="SystemExit"):
        await call(loops, leaves)
    assert await call(loops, quick)
    assert await asyncio.to_thread(cancelled.wait, 10)


@pytest.mark.parametrize("through", ["itself", "a task of its own"])
async def test_who_blocks_a_loop_overruns_alone_and_the_others_go_on(through):
    loops = GuardedLoops()
    release = threading.Event()
    begun = threading.Event()

    async def stops():
        begun.set()
        release.wait()

    async def blocks():
        await (stops() if through == "itself" else asyncio.ensure_future(stops()))

    async def innocent():
        await asyncio.to_thread(begun.wait)
        await asyncio.sleep(0.01)
        return 1.0

    culprits = [asyncio.ensure_future(call(loops, blocks, 1.0)) for _ in range(3)]
    others = [asyncio.ensure_future(call(loops, innocent, 1.0)) for _ in range(5)]
    ticks = 0
    while not all(task.done() for task in culprits):
        await asyncio.sleep(0.02)
        ticks += 1
    assert ticks > 10
    assert await asyncio.gather(*others) == [1.0] * 5
    ended = await asyncio.gather(*culprits, return_exceptions=True)
    assert [type(end) for end in ended] == [TimeoutError] * 3
    # Known by now, it holds up nobody any more.
    late = asyncio.ensure_future(call(loops, blocks, 1.0))
    assert await call(loops, quick, 1.0)
    assert not late.done()
    release.set()
    assert await late is None


async def test_futures_of_the_callers_loop_can_be_awaited():
    loops = GuardedLoops()
    answer = asyncio.get_running_loop().create_future()
    begun = threading.Event()

    async def waits():
        begun.set()
        return await answer

    waiting = [asyncio.ensure_future(call(loops, waits)) for _ in range(3)]
    await asyncio.to_thread(begun.wait, 10)
    answer.set_result("here")
    assert await asyncio.gather(*waiting, answer) == ["here"] * 4


async def test_what_is_bound_to_the_callers_loop_is_awaited_there():
    loops = GuardedLoops()
    lock = asyncio.Lock()
    places = []

    async def waits():
        places.append(threading.get_ident())
        async with lock:
            return "in turn"

    await lock.acquire()
    queued = asyncio.ensure_future(lock.acquire())
    await asyncio.sleep(0)
    waiting = asyncio.ensure_future(call(loops, waits))
    lock.release()
    await queued
    lock.release()
    assert await waiting == "in turn"
    await lock.acquire()
    again = asyncio.ensure_future(call(loops, waits))
    await asyncio.sleep(0.05)
    lock.release()
    assert await again == "in turn"


async def test_a_call_that_is_given_up_is_cancelled():
    loops = GuardedLoops()
    begun, cancelled = threading.Event(), threading.Event()

    async def hangs():
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    task = asyncio.ensure_future(call(loops, hangs))
    await asyncio.to_thread(begun.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(cancelled.wait, 10)


async def test_the_context_of_the_caller_is_kept():
    told = ContextVar("told", default="")
    told.set("yes")

    async def asks():
        return told.get()

    assert await call(GuardedLoops(), asks) == "yes"


async def test_a_late_answer_does_not_come_back(recwarn):
    loops = GuardedLoops()

    async def late():
        time.sleep(0.3)  # noqa: ASYNC251  (what it is about)
        return 1

    with pytest.raises(TimeoutError):
        await call(loops, late, 0.1)
    assert await call(loops, quick)
    assert not recwarn.list
