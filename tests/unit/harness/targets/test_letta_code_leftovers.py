"""What a killed run of Letta Code has left on the machine."""

import os
import subprocess
import sys

import pytest

from harness.system.child_environment import RUN_MARK
from harness.targets.letta_code import LettaCode
from harness.targets.letta_code_folders import make_folders, make_run_folder
from harness.targets.letta_code_preparation import PREPARED


@pytest.fixture(autouse=True)
def _temporary(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def left_by(run_id):
    """Leave what a run leaves that is killed; give its folder and a process."""
    folder = make_run_folder(run_id)
    (folder / PREPARED).mkdir()
    folders = make_folders(folder, home=None, files=None)
    providers = folders.home / ".letta" / "lc-local-backend" / "providers"
    providers.mkdir(parents=True)
    (providers / "key").write_text("a-key", encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", "import time; time.sleep(600)"],
        env={**os.environ, RUN_MARK: run_id},
        start_new_session=True,
    )
    return folder, process


async def test_clean_ends_the_processes_of_one_run_and_removes_its_folders():
    mine, other = os.urandom(6).hex(), os.urandom(6).hex()
    folder, process = left_by(mine)
    kept, going = left_by(other)
    agent = LettaCode(backend="local")
    try:
        assert await agent.clean(mine) == ["a process of Letta Code", f"folder {folder}"]
        assert process.wait(10) == -9
        assert (folder.exists(), kept.exists(), going.poll()) == (False, True, None)
        assert await agent.clean(mine) == []
    finally:
        await agent.clean(other)
        going.wait(10)


async def test_clean_takes_the_keys_out_of_folders_that_are_kept():
    run_id = os.urandom(6).hex()
    folder, process = left_by(run_id)
    agent = LettaCode(backend="local", keep_files=True)
    assert await agent.clean(run_id) == ["a process of Letta Code", f"folder {folder / PREPARED}"]
    process.wait(10)
    assert folder.exists()
    assert list(folder.rglob("key")) == []
    assert await agent.clean(run_id) == []


def test_a_folder_of_a_run_leaves_room_for_the_paths_of_sockets():
    """They may have about 100 bytes."""
    name = make_run_folder("20261130T120000Z-" + "a" * 40 + "-abcdef").name
    assert len(name) < 45


async def test_clean_leaves_alone_what_others_have_put_there(tmp_path):
    run_id = os.urandom(6).hex()
    folder = make_run_folder(run_id)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder.with_name(f"{folder.name.partition('.')[0]}.link").symlink_to(elsewhere)
    assert await LettaCode(backend="local").clean(run_id) == [f"folder {folder}"]
    assert elsewhere.exists()
