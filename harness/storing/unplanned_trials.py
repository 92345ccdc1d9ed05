"""The names of stored trials that a resumed run does not plan any more: they do not count."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from harness.storing.counted_trials import TrialName
from harness.storing.run_folders import UNPLANNED
from harness.system.files import whole_file
from harness.types.errors import StoreError

_encode = msgspec.json.Encoder().encode


def write_unplanned(folder: Path, names: Iterable[TrialName]) -> int:
    """Write `unplanned.jsonl` anew and return how many names it holds; there is none without.

    Raises:
        StoreError: it cannot be written.
    """
    path = folder / UNPLANNED
    count = 0
    try:
        with whole_file(path) as draft, draft.open("wb") as file:
            for name in names:
                count += bool(file.write(_encode(name) + b"\n"))
        if not count:
            path.unlink()
    except OSError as error:
        raise StoreError(f"cannot write: {error.strerror}", place=str(path)) from error
    return count
