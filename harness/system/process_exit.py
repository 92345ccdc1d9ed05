"""The end of the process, which nothing that was left behind may hold up."""

import atexit
import os
import sys
import threading
from contextlib import suppress

from harness.system.early_signals import ignore_signals

_left_behind: list[object] = []
"""Tasks that ignore their cancellation; freed, they could run for ever."""


def leave_behind(tasks: object) -> None:
    """Take note of what still runs and cannot be ended."""
    _left_behind.append(tasks)


def leave(code: int) -> None:
    """End the process with an exit code, also where a user's task or thread would hold it."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    mine = threading.current_thread()
    threads = [t for t in threading.enumerate() if t is not mine and not t.daemon]
    # What users' libraries do at the end, such as sending traces, is done in any case.
    atexit._run_exitfuncs()  # noqa: SLF001  (the way to run them before os._exit)
    ignore_signals()
    if _left_behind or threads:
        os._exit(code)
    sys.exit(code)
