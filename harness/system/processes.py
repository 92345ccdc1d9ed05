"""Child processes that end together with all that they have started."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Any


def own_group() -> dict[str, Any]:
    """Return the options that start a process in its own group, which Ctrl-C does not reach."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def kill_group(pid: int) -> None:
    """Kill what is left of the group that a process was started in.

    Windows knows no such groups: there the process alone is killed.
    """
    with suppress(OSError):
        if sys.platform == "win32":
            os.kill(pid, signal.SIGTERM)
        else:
            os.killpg(pid, signal.SIGKILL)


def end_this_process_after(seconds: float) -> None:
    """End this process after so many seconds, whatever it does by then; 0 calls that off.

    It bounds a child whose parent was killed. Windows knows no such alarm: nothing happens there.
    """
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)
