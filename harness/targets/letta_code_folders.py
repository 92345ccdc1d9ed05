"""The folders of a trial of Letta Code: home, working folder, temporary files.

All of it blocks; call it in a thread.
"""

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.system.scratch_folders import make_scratch, remove_folder, scratch_folders
from harness.system.texts import one_line

FILE_BYTES = 2**18
"""How long a collected file may be."""

ALL_BYTES = 2**21
"""How long all collected files of a trial may be together."""

MOST_FILES = 10_000
"""How many files of a trial may be collected."""

_PREFIX = "regrade-letta-code"
_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """`home` becomes HOME, `work` is where the command works, `temporary` becomes TMPDIR."""

    root: Path
    home: Path
    work: Path
    temporary: Path


def make_run_folder(run_id: str) -> Path:
    """Make the folder that holds all others of a run; nobody else may look into it."""
    return make_scratch(_PREFIX, run_id)


def run_folders(run_id: str) -> list[Path]:
    """Return the folders that a run has left."""
    return scratch_folders(_PREFIX, run_id)


def make_folders(run_folder: Path, *, home: Path | None, files: Path | None) -> Folders:
    """Make the folders of a trial: home and working folder are copies where a model is given."""
    root = Path(tempfile.mkdtemp(prefix="trial-", dir=run_folder))
    made = Folders(root=root, home=root / "home", work=root / "work", temporary=root / "temporary")
    for folder, model in ((made.home, home), (made.work, files), (made.temporary, None)):
        if model is None:
            folder.mkdir()
        else:
            shutil.copytree(model, folder, symlinks=True)
    return made


def forget_keys(home: Path) -> None:
    """Remove the keys of connected endpoints from a home folder that is kept."""
    remove_folder(home / ".letta" / "lc-local-backend" / "providers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """The texts of files by their path; a file that is too long stands as `{"bytes": length}`.

    `problem` says why there are not all, where an agent has left what cannot be read.
    """

    files: Mapping[str, str | dict[str, int]]
    problem: str | None = None


def collect_files(folder: Path, patterns: Sequence[str]) -> Collected:
    """Return the texts of the files that patterns name, by their path inside the folder.

    A file that is too long, or would make all too long, stands with its length alone. What an
    agent has made can be of any shape: that is its own doing, and raises nothing.
    """
    found: dict[str, str | dict[str, int]] = {}
    paths, problem = _listed(folder, patterns)
    left = ALL_BYTES
    for path in paths:
        try:
            text = _text_of(path, left)
        except OSError as error:
            problem = problem or _unread(path.relative_to(folder), error)
            continue
        found[path.relative_to(folder).as_posix()] = text
        left -= len(text.encode()) if isinstance(text, str) else 0
    return Collected(files=found, problem=problem)


def _text_of(path: Path, left: int) -> str | dict[str, int]:
    length = path.stat().st_size
    if length > min(FILE_BYTES, left):
        return {"bytes": length}
    with path.open("rb") as file:
        return file.read(length).decode(errors="replace")


def _listed(folder: Path, patterns: Sequence[str]) -> tuple[list[Path], str | None]:
    """Return the files that patterns name, in order, and what keeps them from being all."""
    found: list[Path] = []
    try:
        for path in _matching(folder, patterns):
            if len(found) == MOST_FILES:
                return sorted(found), f"there are more than {MOST_FILES:,} files"
            found.append(path)
    except (OSError, RecursionError) as error:
        return sorted(found), _unread(Path(), error)
    return sorted(found), None


def _unread(path: Path, error: Exception) -> str:
    reason = error.strerror if isinstance(error, OSError) else "folders lie too deep in each other"
    return f"{one_line(path.as_posix(), _SHOWN)} cannot be read: {reason or type(error).__name__}"


def _matching(folder: Path, patterns: Sequence[str]) -> Iterator[Path]:
    """Yield the regular files inside the folder; links that an agent made lead nowhere."""
    seen: set[Path] = set()
    for pattern in patterns:
        for path in folder.glob(pattern):
            if path not in seen and path.is_file() and _is_inside(path, folder):
                seen.add(path)
                yield path


def _is_inside(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())
