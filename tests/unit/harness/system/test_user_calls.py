import asyncio
import functools
import threading

import pytest

from harness.system.user_calls import UserCodeError, caller_of, is_async, within


class Sync:
    def __call__(self, value):
        return value


class Async:
    async def __call__(self, value):
        return value


def sync(value):
    return value


async def later(value):
    await asyncio.sleep(0)
    return value


def starts(value):
    return later(value)


ASYNC = [later, Async(), functools.partial(later), Async().__call__]
SYNC = [sync, starts, Sync(), functools.partial(sync), Sync().__call__, len, dict]


@pytest.mark.parametrize("function", ASYNC)
def test_an_async_function_is_recognised(function):
    assert is_async(function) is True


@pytest.mark.parametrize("function", SYNC)
def test_any_other_function_is_no_async_one(function):
    assert is_async(function) is False


@pytest.mark.parametrize("function", [*ASYNC, *SYNC[:-2]])
async def test_every_kind_of_function_gives_its_value(function):
    assert await caller_of(function)("a") == "a"


async def test_a_sync_function_runs_in_a_thread_and_an_async_one_on_the_loop():
    async def here():
        return threading.get_ident()

    assert await caller_of(here)() == threading.get_ident()
    assert await caller_of(threading.get_ident)() != threading.get_ident()


@pytest.mark.parametrize(
    "error",
    [
        ValueError("x"),
        SystemExit(3),
        KeyboardInterrupt(),
        asyncio.CancelledError(),
        StopIteration(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("kind", ["sync", "async", "starts"])
async def test_whatever_a_function_raises_is_one_kind_of_error(error, kind):
    def raises():
        raise error

    async def raises_later():
        await asyncio.sleep(0)
        raise error

    def starts():
        return raises_later()

    function = {"sync": raises, "async": raises_later, "starts": starts}[kind]
    with pytest.raises(UserCodeError) as raised:
        await caller_of(function)()
    # Python itself turns a StopIteration that leaves a coroutine into a RuntimeError.
    assert raised.value.error is error or isinstance(raised.value.error, RuntimeError)


@pytest.mark.parametrize("function", [sync, later])
async def test_arguments_that_do_not_fit_are_the_users_error(function):
    with pytest.raises(UserCodeError, match="TypeError"):
        await caller_of(function)(1, 2)


@pytest.mark.parametrize("function", [later, sync])
async def test_a_cancellation_from_outside_passes_through(function):
    release = threading.Event()
    call = caller_of(release.wait if function is sync else asyncio.Event().wait)
    task = asyncio.ensure_future(call())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    release.set()


async def test_what_ends_in_time_gives_its_value_or_its_error():
    assert await within(later(1), seconds=30) == 1
    with pytest.raises(UserCodeError, match="KeyError"):
        await within(caller_of({}.__getitem__)("a"), seconds=30)


async def test_what_overruns_is_cancelled():
    cancelled = asyncio.Event()

    async def hangs():
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    with pytest.raises(TimeoutError):
        await within(caller_of(hangs)(), seconds=0.01)
    assert cancelled.is_set()


@pytest.mark.parametrize("end", ["value", "error"])
async def test_what_ignores_its_cancellation_is_left_to_itself(end):
    release, ended = asyncio.Event(), asyncio.Event()

    async def clings():
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        ended.set()
        return 1 if end == "value" else 1 / 0

    with pytest.raises(TimeoutError):
        await within(caller_of(clings)(), seconds=0.01)
    release.set()
    await asyncio.wait_for(ended.wait(), timeout=10)


async def test_an_async_function_that_blocks_for_too_long_is_out_of_time():
    async def blocks():
        threading.Event().wait(0.05)

    with pytest.raises(TimeoutError):
        await within(caller_of(blocks)(), seconds=0.01)


async def test_whoever_gives_up_waiting_gives_up_the_call():
    started, ended = asyncio.Event(), asyncio.Event()

    async def waits():
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    task = asyncio.ensure_future(within(caller_of(waits)(), seconds=30))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(ended.wait(), timeout=10)
