"""Files written whole: a reader sees the old text or the new one, never half of it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.system.disk_syncing import sync, sync_folders


def write_whole(path: Path, text: str) -> None:
    """Write a text as UTF-8 beside its place and to disk, then move it there.

    Raises:
        OSError: the disk is full, or the folder cannot be written; the old file stays.
    """
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            sync(file.fileno())
        draft.replace(path)
        sync_folders([path.parent])
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give the path of a draft beside a file, and move it there once it is written.

    Where writing it fails, the draft goes and the old file stays.

    Raises:
        OSError: the draft cannot be moved.
    """
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        yield draft
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
