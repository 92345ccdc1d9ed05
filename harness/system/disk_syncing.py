"""Files that are written to disk in the background, so that a power cut loses a second at most."""

import errno
import os
import threading
from collections.abc import Sequence
from pathlib import Path

SYNC_SECONDS = 1.0
"""How often what was written is synced to disk."""

_NO_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EBADF})
"""What a device says that knows no syncing."""


class DiskSync:
    """Syncs a file that is written to, once a second, in a thread of its own.

    `failed` is the error that syncing ended with, None as long as there is none.
    """

    def __init__(self, descriptor: int) -> None:
        self.failed: OSError | None = None
        self._descriptor = descriptor
        self._is_dirty = False
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="regrade-sync", daemon=True)
        self._thread.start()

    def mark(self) -> None:
        """Take note that the file was written to."""
        self._is_dirty = True

    def close(self) -> None:
        """End the thread; what was written since its last round is for the caller to sync."""
        self._closing.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._closing.wait(SYNC_SECONDS):
            if not self._is_dirty:
                continue
            self._is_dirty = False
            try:
                sync(self._descriptor)
            except OSError as error:
                self.failed = error
                return


def sync(descriptor: int) -> None:
    """Write a file to disk, where its device knows how.

    Raises:
        OSError: the disk failed, or is full.
    """
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise


def sync_folders(folders: Sequence[Path]) -> None:
    """Write the names in folders to disk, where the system lets folders be opened.

    Raises:
        OSError: the disk failed.
    """
    for folder in folders:
        try:
            descriptor = os.open(folder, os.O_RDONLY)
        except OSError:  # Windows
            continue
        try:
            sync(descriptor)
        finally:
            os.close(descriptor)
