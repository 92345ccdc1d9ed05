"""Folders for the files of a run that nobody keeps: made, found again after a kill, and removed.

All of it blocks; call it in a thread.
"""

import hashlib
import os
import secrets
import shutil
import stat
import tempfile
from itertools import count, repeat
from pathlib import Path


def make_scratch(prefix: str, run_id: str) -> Path:
    """Make a folder for a run among the temporary ones; nobody else may look into it."""
    return Path(tempfile.mkdtemp(prefix=f"{_name_of(prefix, run_id)}.")).resolve()


def scratch_folders(prefix: str, run_id: str) -> list[Path]:
    """Return the folders that were made for a run and are still there."""
    name = _name_of(prefix, run_id)
    return sorted(
        path
        for path in Path(tempfile.gettempdir()).resolve().iterdir()
        if path.name.rpartition(".")[0] == name
        # Others may write here too: what is not ours is left alone.
        and not path.is_symlink()
        and os.access(path, os.R_OK | os.W_OK | os.X_OK)
    )


def _name_of(prefix: str, run_id: str) -> str:
    # Sockets are made in folders below, and their paths must not have more than about 100 bytes.
    return f"{prefix}-{hashlib.sha256(run_id.encode()).hexdigest()[:12]}"


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it, also what an agent has made unwritable, or too deep.

    Raises:
        OSError: it cannot be removed.
    """
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        try:
            shutil.rmtree(folder)
        except (OSError, RecursionError):
            _flatten(folder)
            folder.rmdir()


def _flatten(folder: Path) -> None:
    """Empty a folder of any depth: every folder inside is moved to the top before it is entered.

    So no path gets long, and no more than one folder is open at a time.
    """
    names = map("{}-{}".format, repeat(secrets.token_hex(8)), count())
    waiting = [folder]
    while waiting:
        entered = waiting.pop()
        entered.chmod(stat.S_IRWXU)
        for path in list(entered.iterdir()):
            if path.is_symlink() or not path.is_dir():
                path.unlink()
                continue
            path.chmod(stat.S_IRWXU)
            waiting.append(path.rename(folder / next(names)))
        if entered != folder:
            entered.rmdir()
