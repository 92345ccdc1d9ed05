"""Ctrl-C and SIGTERM as an orderly end: the first asks, the second insists."""

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_SIGNALS = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))


@contextmanager
def on_interrupt(ask: Callable[[], None], insist: Callable[[], None]) -> Iterator[None]:
    """Call `ask` in the loop at the first Ctrl-C, SIGTERM or SIGHUP, `insist` at once at the next.

    Outside the main thread signals belong to somebody else, and nothing is done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    seen: list[int] = []

    def handle(number: int, _frame: FrameType | None) -> None:
        seen.append(number)
        if len(seen) > 1:
            # Not through the loop: it may be what hangs.
            insist()
        loop.call_soon_threadsafe(ask)

    before: dict[signal.Signals, Any] = {s: signal.signal(s, handle) for s in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
