"""Child processes that end together with all that they have started."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

_PROCESSES = Path("/proc")
_ROUNDS = 10
"""How often to look again for processes that were started while others were killed."""


def own_group() -> dict[str, Any]:
    """Return the options that start a process in its own group, which Ctrl-C does not reach."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def ask_group(pid: int) -> None:
    """Ask the group that a process was started in to end, by SIGTERM; on Windows, kill it."""
    with suppress(OSError):
        if sys.platform == "win32":
            os.kill(pid, signal.SIGTERM)
        else:
            os.killpg(pid, signal.SIGTERM)


def kill_group(pid: int) -> None:
    """Kill what is left of the group that a process was started in.

    Windows knows no such groups: there the process alone is killed.
    """
    with suppress(OSError):
        if sys.platform == "win32":
            os.kill(pid, signal.SIGTERM)
        else:
            os.killpg(pid, signal.SIGKILL)


def kill_marked(name: str, value: str) -> int:
    """Kill every process that was started with this variable in its environment; return how many.

    It finds what has left its group, as the shells do that an agent's tools start. Only Linux
    tells the environment of processes: elsewhere nothing is killed, and 0 returned.
    """
    if sys.platform != "linux":
        return 0
    mark = f"{name}={value}".encode()
    killed: set[int] = set()
    for _ in range(_ROUNDS):
        found = set(_marked(mark))
        for pid in found:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        killed |= found
        if not found:
            break
    return len(killed)


def _marked(mark: bytes) -> Iterator[int]:
    for entry in _PROCESSES.iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            # It may have ended by now, or be another user's; a dead one has no environment.
            with suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    yield int(entry.name)


def end_this_process_after(seconds: float) -> None:
    """End this process after so many seconds, whatever it does by then; 0 calls that off.

    It bounds a child whose parent was killed. Windows knows no such alarm: nothing happens there.
    """
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)
