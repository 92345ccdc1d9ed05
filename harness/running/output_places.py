"""Where results of a command may be written: never over a file, nor into what is being read."""

import os
from collections.abc import Mapping
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
        InputError: there is something of that name, a run has that name for a file of its own, or
            it could not be written.
    """
    if os.path.lexists(out):
        raise _refusal(out, "this is there already, and would be overwritten")
    is_run = any((out.parent / name).is_file() for name in (MANIFEST, TRIALS))
    if is_run and out.name.lower() in _OWN:
        raise _refusal(out, "a run keeps this name for a file of its own")
    require_writable(out)


def require_writable(*outs: Path | None, makes_folders: bool = False) -> None:
    """Refuse files that could not be written, before the work is done whose results they hold.

    None is no file, and `-` standard output. `makes_folders` says that missing ones are made.

    Raises:
        InputError: with a line for each.
    """
    places = (one for one in outs if one is not None and str(one) != "-")
    faults = [
        Fault(file=str(out), problem=f"cannot be written: {problem}")
        for out in dict.fromkeys(places)
        if (problem := _hindrance(out, makes_folders=makes_folders))
    ]
    if faults:
        raise InputError(faults)


def _hindrance(out: Path, *, makes_folders: bool) -> str:
    """Say what keeps a file from being written; empty for nothing that can be known before."""
    folder = out.parent
    while makes_folders and not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    if out.exists() and not out.is_file():
        return f"this is {'a folder' if out.is_dir() else 'no regular file'}"
    if not folder.exists():
        return f"there is no folder {folder}"
    if not folder.is_dir():
        return f"{folder} is no folder"
    return "" if os.access(folder, os.W_OK) else f"the folder {folder} cannot be written"


def refuse_one_stream(places: Mapping[str, Path | None]) -> None:
    """Refuse several results, by option, that would all be written to standard output.

    Raises:
        InputError: more than one is `-`.
    """
    named = [option for option, place in places.items() if str(place) == "-"]
    if len(named) > 1:
        problem = f"{' and '.join(named)} would be mixed"
        allowed = "name files for all but one"
        raise InputError([Fault(file="standard output", problem=problem, allowed=allowed)])


def _refusal(out: Path, problem: str) -> InputError:
    allowed = "nothing was written; name another file with --out"
    return InputError([Fault(file=str(out), problem=problem, allowed=allowed)])
