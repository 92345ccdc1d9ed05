"""Event loops that end: whatever is left over in one does not keep the program alive."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")

_END_SECONDS = 2.0


def run_to_end(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine in a loop of its own; tasks that ignore their cancellation are left behind.

    `asyncio.run` waits for them for ever, and for threads of the default executor as well.
    """
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=_END_SECONDS))
        loop.run_until_complete(loop.shutdown_asyncgens())
        # What still runs would complain that the loop is closed, to nobody's use.
        if all(task.done() for task in left):
            loop.close()
