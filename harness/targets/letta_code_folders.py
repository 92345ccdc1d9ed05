"""The folders of a trial of Letta Code: home, working folder, temporary files.

All of it blocks; call it in a thread.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

FILE_BYTES = 2**18
"""How long a collected file may be."""

ALL_BYTES = 2**21
"""How long all collected files of a trial may be together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """`home` becomes HOME, `work` is where the command works, `temporary` becomes TMPDIR."""

    root: Path
    home: Path
    work: Path
    temporary: Path


def make_run_folder() -> Path:
    """Make the folder that holds all others of a run; nobody else may look into it."""
    return Path(tempfile.mkdtemp(prefix="regrade-letta-code-")).resolve()


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


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it, also what an agent has made unwritable.

    Raises:
        OSError: it cannot be removed.
    """
    if not folder.exists():
        return
    try:
        shutil.rmtree(folder)
    except PermissionError:
        folder.chmod(stat.S_IRWXU)
        for parent, names, _ in os.walk(folder):
            for path in map(Path(parent).joinpath, names):
                if not path.is_symlink():
                    path.chmod(stat.S_IRWXU)
        shutil.rmtree(folder)


def forget_keys(home: Path) -> None:
    """Remove the keys of connected endpoints from a home folder that is kept."""
    remove_folder(home / ".letta" / "lc-local-backend" / "providers")


def collect_files(folder: Path, patterns: Sequence[str]) -> dict[str, str | dict[str, int]]:
    """Return the texts of the files that patterns name, by their path inside the folder.

    A file that is too long, or would make all too long, stands as `{"bytes": length}` alone.
    """
    found: dict[str, str | dict[str, int]] = {}
    left = ALL_BYTES
    for path in sorted(_matching(folder, patterns)):
        length = path.stat().st_size
        name = path.relative_to(folder).as_posix()
        if length > min(FILE_BYTES, left):
            found[name] = {"bytes": length}
        else:
            with path.open("rb") as file:
                found[name] = file.read(FILE_BYTES).decode(errors="replace")
            left -= length
    return found


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
