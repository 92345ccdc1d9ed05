"""Writing to disk in the background."""

import os
import threading
import time

import pytest

from harness.system import disk_syncing
from harness.system.disk_syncing import DiskSync, sync, sync_folders


def wait_for(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_what_is_written_is_synced_a_second_later_and_only_then(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(disk_syncing, "SYNC_SECONDS", 0.01)
    monkeypatch.setattr(disk_syncing, "sync", synced.append)
    syncing = DiskSync(7)
    assert synced == []
    syncing.mark()
    wait_for(lambda: synced == [7])
    syncing.close()
    assert not any(thread.name == "regrade-sync" for thread in threading.enumerate())


def test_a_disk_that_fails_is_remembered(monkeypatch):
    def fail(_descriptor):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(disk_syncing, "SYNC_SECONDS", 0.01)
    monkeypatch.setattr(disk_syncing, "sync", fail)
    syncing = DiskSync(7)
    syncing.mark()
    wait_for(lambda: syncing.failed is not None)
    syncing.close()


def test_files_folders_and_what_knows_no_syncing_are_synced(tmp_path):
    with (tmp_path / "file").open("wb") as file:
        sync(file.fileno())
    reading, writing = os.pipe()
    sync(writing)
    for end in (reading, writing):
        os.close(end)
    sync_folders([tmp_path, tmp_path / "nothing"])


def test_a_failing_disk_is_an_error(monkeypatch):
    def fail(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        sync(1)
