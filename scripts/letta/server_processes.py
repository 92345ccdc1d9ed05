"""Processes that outlive the command: started, recognised, ended with all that they started.

A process is known by its number together with the moment it began, so that a number which the
system has given to somebody else meanwhile is left alone.
"""

import os
import pwd
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from server_places import Trouble

MARK = "REGRADE_LETTA_PART_OF"
"""In the environment of all that we start: the state folder that it belongs to."""

_REASONS = {
    "the disk is full": ("o space left on device", "uota exceeded"),
    "the package index cannot be reached (network, proxy or certificate)": (
        "NewConnectionError", "NameResolution", "ConnectTimeout", "ReadTimeout", "ProxyError",
        "SSLError", "ConnectionReset", "onnection broken", "Could not fetch URL",
        "error sending request", "dns error",
    ),
}  # fmt: skip
_ERRORS = ("FATAL", "Error:", "ERROR:", "error:")
_PROC = Path("/proc")
_PAUSE = 0.05


def moment_of(pid: int) -> str | None:
    """Give a text for the moment when a process began; None where there is no such process."""
    if (_PROC / "self" / "stat").exists():
        fields = _stat(pid)
        if not _is_alive(fields):
            return None
        boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
        return f"{boot} {fields[19]}"
    listed = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)],  # noqa: S607  (ps of the PATH)
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    state, _, began = listed.stdout.strip().partition(" ")
    return None if not began or state.startswith("Z") else began.strip()


def _is_alive(fields: Sequence[str]) -> bool:
    # The first thread is a zombie already while others still hold files and ports.
    return bool(fields) and (fields[0] != "Z" or int(fields[17]) > 1)


def _stat(pid: int) -> list[str]:
    """Give the fields of /proc/PID/stat from the state on; none where there is no process."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return []
    # The name in parentheses may hold anything, also blanks and parentheses.
    return text.rpartition(")")[2].split()


def spawn(
    command: Sequence[str | Path],
    *,
    log: Path,
    environment: Mapping[str, str],
    account: pwd.struct_passwd | None = None,
) -> "subprocess.Popen[bytes]":
    """Start a process of its own session, whose output goes to a log; the last log is kept."""
    if log.exists():
        log.replace(log.with_suffix(".previous.log"))
    with log.open("wb") as output:
        return subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd="/" if account else log.parent.parent,
            env=dict(environment),
            start_new_session=True,
            user=account.pw_uid if account else None,
            group=account.pw_gid if account else None,
            extra_groups=() if account else None,
        )


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What a step of an installation runs in; `keeps` are descriptors that it inherits."""

    log: Path
    environment: Mapping[str, str]
    folder: Path = Path("/")
    account: pwd.struct_passwd | None = None
    keeps: Sequence[int] = ()


def run_step(command: Sequence[str | Path], where: Surroundings) -> None:
    """Run a command to its end.

    Raises:
        Trouble: it fails; the text says why.
    """
    account = where.account
    with where.log.open("ab") as output:
        done = subprocess.run(
            list(map(str, command)),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=where.folder,
            env=dict(where.environment),
            pass_fds=where.keeps,
            check=False,
            user=account.pw_uid if account else None,
            group=account.pw_gid if account else None,
            extra_groups=() if account else None,
        )
    if done.returncode:
        name = Path(command[0]).name
        raise Trouble(f"{name} failed: {_reason(where.log)}; all of its output: {where.log}")


def _reason(log: Path) -> str:
    text = log.read_text(encoding="utf-8", errors="replace")
    for reason, signs in _REASONS.items():
        if any(sign in text for sign in signs):
            return reason
    return last_line(log)


def end(pid: int, moment: str, *, gently: signal.Signals, seconds: float, mark: str) -> bool:
    """End a process and its group; give False where it was gone already.

    It has so many seconds to follow the gentle signal (none at all for SIGKILL). What it leaves
    behind in its group is killed, where it bears the mark.
    """
    alive = moment_of(pid) == moment
    if alive:
        with suppress(ProcessLookupError):
            os.kill(pid, gently)
        if not wait_until(lambda: moment_of(pid) != moment, seconds):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            wait_until(lambda: moment_of(pid) != moment, 10)
    for left in _group(pid, mark):
        with suppress(ProcessLookupError):
            os.kill(left, signal.SIGKILL)
    wait_until(lambda: not list(_group(pid, mark)), 10)
    return alive


def _group(leader: int, mark: str) -> Iterator[int]:
    """Give the living processes of a group that bear the mark; only where /proc tells."""
    sign = f"{MARK}={mark}".encode()
    for folder in _PROC.glob("[0-9]*"):
        fields = _stat(int(folder.name))
        if _is_alive(fields) and int(fields[2]) == leader:
            with suppress(OSError):
                if sign in (folder / "environ").read_bytes().split(b"\0"):
                    yield int(folder.name)


def wait_until(holds: Callable[[], bool], seconds: float) -> bool:
    """Wait until something holds; False where it does not in time."""
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(_PAUSE)
    return True


def last_line(log: Path) -> str:
    """Give the last line of a log that speaks of an error, or else the last one."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "it said nothing"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if any(sign in line for sign in _ERRORS)]
    return [*(errors or lines or ["it said nothing"])][-1][:300]
