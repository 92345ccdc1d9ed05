"""Event loops that end: whatever is left over in one does not keep the program alive."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from harness.system.process_exit import leave_behind

_T = TypeVar("_T")

_END_SECONDS = 2.0


def run_to_end(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine in a loop of its own; tasks that ignore their cancellation are left behind.

    `asyncio.run` waits for them for ever, and for threads of the default executor as well.
    """
    loop = asyncio.new_event_loop()
    seen: set[object] = set()

    def report_once(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        # Out of open files, asyncio reports the same failure thousands of times.
        if context.get("message") not in seen:
            seen.add(context.get("message"))
            loop.default_exception_handler(context)

    loop.set_exception_handler(report_once)
    try:
        return loop.run_until_complete(work)
    finally:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=_END_SECONDS))
        loop.run_until_complete(loop.shutdown_asyncgens())
        if resisting := [task for task in left if not task.done()]:
            leave_behind((loop, resisting))
        else:
            loop.close()
