"""Threads for code that blocks."""

import asyncio
import subprocess
import sys
import threading
from contextvars import ContextVar

import pytest

from harness.system.threads import in_thread


async def test_a_call_gives_its_result_and_its_exception():
    assert await in_thread(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await in_thread(divmod, 7, 0)


async def test_calls_run_at_the_same_time_however_many_there_are():
    barrier = threading.Barrier(60, timeout=20)
    await asyncio.gather(*(in_thread(barrier.wait) for _ in range(60)))


async def test_a_call_sees_the_context_of_its_caller():
    word = ContextVar("word", default="")
    word.set("here")
    assert await in_thread(word.get) == "here"


async def test_a_call_that_was_given_up_does_not_hold_the_next_one():
    gate = threading.Event()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await in_thread(gate.wait, 20)
    assert await in_thread(abs, -1) == 1
    gate.set()


async def test_a_leaked_stop_iteration_is_an_ordinary_error():
    with pytest.raises(RuntimeError, match="StopIteration"):
        await in_thread(next, iter(()))


def test_a_thread_that_never_ends_does_not_keep_the_program_alive():
    program = """
import asyncio, threading
from harness.system.threads import in_thread

async def main():
    try:
        async with asyncio.timeout(0.1):
            await in_thread(threading.Event().wait)
    except TimeoutError:
        print("given up")

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout == "given up\n"
