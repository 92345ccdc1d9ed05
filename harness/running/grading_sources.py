"""What is to be graded, as the user names it: a run of ours, or records of another tool."""

from pathlib import Path

from harness.storing.run_folders import MANIFEST, TRIALS, find_run
from harness.types.errors import Fault, InputError, StoreError


def run_at(name: str | Path, out: Path) -> Path | None:
    """Return the run directory that is named; None where something else lies there.

    A run is named by its directory, the log in it, its name, or the word `latest`.

    Raises:
        InputError: there is nothing of that name.
    """
    path = Path(name)
    if path.name == TRIALS and (path.parent / MANIFEST).is_file():
        return path.parent
    try:
        return find_run(name, out)
    except StoreError as error:
        if str(name) and path.exists():
            return None
        allowed = f"{error.hint}; or a file or folder of records"
        raise InputError([Fault(file=error.place, problem=str(error), allowed=allowed)]) from error
