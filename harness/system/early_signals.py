"""Ctrl-C, SIGTERM and SIGHUP from the start of the command to its exit code; loads next to nothing.

While the command is loaded they end the process at once, then by `KeyboardInterrupt`; once the exit
code is known it stays.
"""

import os
import signal
from collections.abc import Callable
from types import FrameType
from typing import Any

INTERRUPTED = 130
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
SIGNALS = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))
_Handler = Callable[[int, FrameType | None], Any]


def leave_on_signals() -> None:
    """Let signals end the process at once: nothing was begun."""
    _handle(lambda _number, _frame: os._exit(INTERRUPTED))


def interrupt_on_signals() -> None:
    """Let signals raise `KeyboardInterrupt`, so that what was begun is cleaned up."""
    _handle(interrupt)


def interrupt(_number: int, _frame: FrameType | None) -> None:
    """End what the process does.

    Raises:
        KeyboardInterrupt: always.
    """
    raise KeyboardInterrupt


def keep_exit_code(code: int) -> None:
    """Let signals change the exit code no longer; the second one ends the process with it."""
    _handle(exit_with(code))


def exit_with(code: int) -> _Handler:
    """Return what passes over the first signal, and ends the process at the second."""
    seen: list[int] = []

    def handle(number: int, _frame: FrameType | None) -> None:
        seen.append(number)
        if len(seen) > 1:
            os._exit(code)

    return handle


def ignore_signals() -> None:
    """Let signals do nothing: the interpreter sets others back to what kills as it ends."""
    _handle(signal.SIG_IGN)


def _handle(handler: _Handler | signal.Handlers) -> None:
    for number in SIGNALS:
        # What the starter of the command has switched off, as `nohup` does, stays so.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)
