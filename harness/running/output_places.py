"""Where results of a command may be written: never over a file, nor into what is being read."""

import os
from pathlib import Path

from harness.storing.run_folders import (
    COMPARISON,
    DAMAGED,
    LOCK,
    MANIFEST,
    OUTCOMES,
    SUMMARY,
    SUMMARY_PAGE,
    TRIALS,
    UNPLANNED,
)
from harness.types.errors import Fault, InputError

_OWN = frozenset(
    {COMPARISON, MANIFEST, TRIALS, OUTCOMES, SUMMARY, SUMMARY_PAGE, LOCK, DAMAGED, UNPLANNED}
)


def refuse_source(out: Path, source: Path) -> None:
    """Refuse to write what is read: the source itself, or a file inside its folder.

    Raises:
        InputError: it is the source, or lies in it.
    """
    read, written = source.resolve(), out.resolve()
    if written == read:
        raise _refusal(out, "this is the source itself")
    if written.is_relative_to(read) or (out.parent.resolve() / out.name).is_relative_to(read):
        raise _refusal(out, f"this lies inside the source, {source}")


def refuse_overwriting(out: Path) -> None:
    """Refuse to write over a file or link, or under a name that a run keeps for itself.

    Raises:
        InputError: there is something of that name, or a run has that name for a file of its own.
    """
    if os.path.lexists(out):
        raise _refusal(out, "this is there already, and would be overwritten")
    is_run = any((out.parent / name).is_file() for name in (MANIFEST, TRIALS))
    if is_run and out.name.lower() in _OWN:
        raise _refusal(out, "a run keeps this name for a file of its own")


def _refusal(out: Path, problem: str) -> InputError:
    allowed = "nothing was written; name another file with --out"
    return InputError([Fault(file=str(out), problem=problem, allowed=allowed)])
