"""Ctrl-C and SIGTERM as an orderly end: the first asks, the second insists."""

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from harness.system.early_signals import SIGNALS, exit_with, interrupt


@contextmanager
def on_interrupt(
    ask: Callable[[], None], insist: Callable[[], None]
) -> Iterator[Callable[[int], None]]:
    """Call `ask` in the loop at the first Ctrl-C, SIGTERM or SIGHUP, `insist` at once at the next.

    Given is what tells the exit code once it is known: later signals of the command leave it so.
    Outside the main thread signals belong to somebody else, and nothing is done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda _code: None
        return
    loop = asyncio.get_running_loop()
    seen, codes = list[int](), list[int]()

    def handle(number: int, _frame: FrameType | None) -> None:
        seen.append(number)
        if len(seen) > 1:
            # Not through the loop: it may be what hangs.
            insist()
        loop.call_soon_threadsafe(ask)

    before: dict[signal.Signals, Any] = {s: signal.signal(s, handle) for s in SIGNALS}
    try:
        yield codes.append
    finally:
        kept = exit_with(codes[-1]) if codes else interrupt
        for number, handler in before.items():
            signal.signal(number, kept if handler is interrupt else handler)
