"""The lock of a run directory: one process at a time writes there."""

import os
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from harness.storing.run_folders import LOCK
from harness.system.clock import now
from harness.system.texts import cut, one_line
from harness.types.errors import StoreError

_LONGEST = 200
_PATIENCE = 0.5


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """Who writes to a run directory: a process, its host, and since when."""

    pid: int
    host: str
    started_at: datetime

    def __str__(self) -> str:
        """Return who it is in words."""
        host = cut(one_line(self.host), _LONGEST)
        return f"process {self.pid} on {host}, since {self.started_at:%Y-%m-%d %H:%M:%S} UTC"


@contextmanager
def locked_run(folder: Path, warn: Callable[[str], None]) -> Iterator[None]:
    """Keep other processes from writing to a run directory; the lock ends with this process.

    The system releases the lock of a process that has died, so that none is ever left over. On a
    disk that knows no locks, `warn` hears so, and the work goes on without.

    Raises:
        StoreError: another process holds it, or the directory cannot be written.
    """
    lock = _lock(folder)
    is_held = _acquire(lock, folder, warn)
    try:
        if is_held:
            _sign(folder)
        yield
    finally:
        if is_held:
            lock.release()


def holder_of(folder: Path) -> str:
    """Say who writes to a run directory; empty where nobody does, or that cannot be told."""
    if not (folder / LOCK).is_file():
        return ""
    lock = _lock(folder)
    try:
        lock.acquire()
    except Timeout:
        return _read_holder(folder)
    except (OSError, NotImplementedError):
        # Where the disk knows no locks nobody can hold one: what `filelock` raises there.
        return ""
    lock.release()
    return ""


def _lock(folder: Path) -> FileLock:
    # No soft lock in its place: that would outlive a process that was killed.
    return FileLock(folder.absolute() / LOCK, timeout=0, fallback_to_soft=False)


def _acquire(lock: FileLock, folder: Path, warn: Callable[[str], None]) -> bool:
    try:
        # Whoever only looks who holds it, holds it for a moment.
        lock.acquire(timeout=_PATIENCE)
    except Timeout as error:
        raise StoreError(
            f"another process writes to this run: {_read_holder(folder)}",
            place=str(folder),
            hint="wait for its end, or stop it",
        ) from error
    except PermissionError as error:
        raise StoreError(f"cannot lock the run: {error.strerror}", place=str(folder)) from error
    except (OSError, NotImplementedError) as error:
        if isinstance(error, OSError) and not os.access(folder, os.W_OK):
            raise StoreError(f"cannot lock the run: {error.strerror}", place=str(folder)) from error
        warn("the disk of the run directory knows no locks: let no second process write there")
        return False
    return True


def _sign(folder: Path) -> None:
    holder = Holder(pid=os.getpid(), host=platform.node(), started_at=now())
    # Windows lets nobody write to a locked file; who holds the lock is then not told.
    with suppress(OSError):
        (folder / LOCK).write_bytes(msgspec.json.encode(holder))


def _read_holder(folder: Path) -> str:
    try:
        return str(msgspec.json.decode((folder / LOCK).read_bytes(), type=Holder))
    except (OSError, msgspec.MsgspecError):
        return "it does not say which"
