"""Child processes that end together with all that they have started."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

_PROCESSES = "/proc"
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
    """A process: its number, and when it was started, since numbers are used again.

    `started` counts the ticks of the system's clock.
    """

    pid: int
    started: int


def process_of(pid: int) -> Process | None:
    """Return the process of a number; None where there is none, and on all systems but Linux."""
    row = _row(pid) if sys.platform == "linux" else None
    return None if row is None else Process(pid, row.started)


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


def kill_marked(
    name: str, value: str, known: Iterable[Process] = (), *, since: int | None = None
) -> int:
    """Kill every process that was started with this variable in its environment; return how many.

    It finds what has left its group, as the shells do that an agent's tools start. Of `known`
    those that still run are killed too, and what they have started. None of the others was
    started before `since`. Only Linux tells the environment of processes: elsewhere nothing is
    killed, and 0 returned.
    """
    if sys.platform != "linux":
        return 0
    mark = f"{name}={value}".encode()
    found = frozenset(known)
    killed: set[Process] = set()
    for _ in range(_ROUNDS):
        table = _table()
        still = {one.pid for one in found if _runs(one, table)}
        young = (pid for pid, row in table.items() if since is None or row.started >= since)
        alive = _with_descendants({*still, *_marked(mark, young)}, table)
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
    started: int


def _table() -> dict[int, _Row]:
    """Return all processes that have not ended."""
    numbers = map(int, filter(str.isdecimal, os.listdir(_PROCESSES)))  # noqa: PTH208  (fast)
    rows = ((number, _row(number)) for number in numbers)
    return {number: row for number, row in rows if row is not None}


def _row(pid: int) -> _Row | None:
    # The name before the parenthesis may hold anything.
    fields = _told(pid, "stat").rpartition(b")")[2].split()
    if not fields or fields[0] in {b"Z", b"X"}:
        return None
    return _Row(int(fields[1]), int(fields[3]), int(fields[19]))


def _told(pid: int, what: str) -> bytes:
    """Return what is told of a process; nothing where it has ended, or is another user's."""
    try:
        with open(f"{_PROCESSES}/{pid}/{what}", "rb", buffering=0) as file:  # noqa: PTH123  (fast)
            return file.read()
    except OSError:
        return b""


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


def _marked(mark: bytes, pids: Iterable[int]) -> Iterator[int]:
    # A dead one has no environment.
    own = os.getpid()
    return (pid for pid in pids if pid != own and mark in _told(pid, "environ").split(b"\0"))


def end_this_process_after(seconds: float) -> None:
    """End this process after so many seconds, whatever it does by then; 0 calls that off.

    It bounds a child whose parent was killed. Windows knows no such alarm: nothing happens there.
    """
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)
