import asyncio
import functools

import pytest

from harness.targets.user_code import UserCodeError, caller_of, is_async


async def wait(value):
    return value


def give(value):
    return value


def give_later(value):
    return wait(value)


class Async:
    async def __call__(self, value):
        return value


@pytest.mark.parametrize(
    "function",
    [wait, give, Async(), functools.partial(wait), give_later, Async().__call__],
)
async def test_functions_of_every_kind_are_called(function):
    assert await caller_of(function)(5) == 5


def test_async_functions_are_told_beforehand():
    assert is_async(wait)
    assert is_async(Async())
    assert not is_async(give)


ERRORS = [ValueError("x"), SystemExit(3), asyncio.CancelledError(), StopIteration(), MemoryError()]


def raising(error):
    def function():
        raise error

    async def coroutine():
        raise error

    return [function, coroutine]


@pytest.mark.parametrize("error", ERRORS, ids=repr)
@pytest.mark.parametrize("place", [0, 1])
async def test_whatever_is_raised_comes_back_as_one_kind_of_error(error, place):
    with pytest.raises(UserCodeError):
        await caller_of(raising(error)[place])()


async def test_a_keyboard_interrupt_of_a_thread_is_the_function_s_own():
    with pytest.raises(UserCodeError):
        await caller_of(raising(KeyboardInterrupt())[0])()


@pytest.mark.parametrize("function", [asyncio.Event().wait, lambda: asyncio.Event().wait()])
async def test_a_cancellation_from_outside_passes_through(function):
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await caller_of(function)()


async def test_an_error_without_a_text_is_an_error_all_the_same():
    class TextlessError(Exception):
        def __str__(self):
            raise AttributeError

    with pytest.raises(UserCodeError, match="TextlessError"):
        await caller_of(raising(TextlessError())[0])()
