"""Child processes that end together with all that they have started."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

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


class Process(NamedTuple):
    """A process: its number, and when it was started, since numbers are used again."""

    pid: int
    started: str


def family_of(pid: int) -> frozenset[Process]:
    """Return what a process has started and what these have, and all of its session, itself too.

    What has left both, because those that started it have ended, is not found. Only Linux tells:
    elsewhere the family is empty.
    """
    if sys.platform != "linux":
        return frozenset()
    table = _table()
    of_session = {number for number, row in table.items() if row.session == pid}
    return _with_descendants({pid, *of_session}, table)


def kill_marked(name: str, value: str, known: Iterable[Process] = ()) -> int:
    """Kill every process that was started with this variable in its environment; return how many.

    It finds what has left its group, as the shells do that an agent's tools start. Of `known`
    those that still run are killed too, and what they have started. Only Linux tells the
    environment of processes: elsewhere nothing is killed, and 0 returned.
    """
    if sys.platform != "linux":
        return 0
    mark = f"{name}={value}".encode()
    found = frozenset(known)
    killed: set[Process] = set()
    for _ in range(_ROUNDS):
        table = _table()
        still = {one.pid for one in found if _runs(one, table)}
        alive = _with_descendants({*still, *(pid for pid in _marked(mark) if pid in table)}, table)
        if not alive:
            break
        for one in alive:
            with suppress(OSError):
                os.kill(one.pid, signal.SIGKILL)
        found |= alive
        killed |= alive
    return len(killed)


class _Row(NamedTuple):
    """What `/proc` tells of a process that has not ended."""

    parent: int
    session: int
    started: str


def _table() -> dict[int, _Row]:
    """Return all processes that have not ended."""
    found: dict[int, _Row] = {}
    for entry in _PROCESSES.iterdir():
        if entry.name.isdecimal():
            # It may have ended by now.
            with suppress(OSError):
                # The name before the parenthesis may hold anything.
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                if fields[0] not in {b"Z", b"X"}:
                    row = _Row(int(fields[1]), int(fields[3]), fields[19].decode())
                    found[int(entry.name)] = row
    return found


def _runs(process: Process, table: Mapping[int, _Row]) -> bool:
    row = table.get(process.pid)
    return row is not None and row.started == process.started


def _with_descendants(pids: set[int], table: Mapping[int, _Row]) -> frozenset[Process]:
    """Return those of the processes that run, with what they have started, ourselves never."""
    children: dict[int, list[int]] = {}
    for pid, row in table.items():
        children.setdefault(row.parent, []).append(pid)
    # Never ourselves: whatever we have started would be among the descendants.
    found, waiting = set(), list(pids - {os.getpid()})
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting += children.get(pid, ())
    return frozenset(Process(pid, table[pid].started) for pid in found if pid in table)


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
