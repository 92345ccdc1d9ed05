"""The lock of a run directory."""

import os
import subprocess
import sys

import pytest

from harness.storing.run_locks import holder_of, locked_run
from harness.types.errors import StoreError

HOLDER = """
import subprocess, sys, os, time
from pathlib import Path
from harness.storing.run_locks import locked_run
with locked_run(Path(sys.argv[1]), print):
    child = {child}
    os.write(1, b"held %d\\n" % child)
    time.sleep(60)
"""
CHILDREN = {
    "a program": "subprocess.Popen(['sleep', '60'], close_fds=False).pid",
    "a copy of the process": "os.fork() or os.write(1, b'a copy\\n') and time.sleep(60)",
}


def hold(folder, child="0"):
    """Start a process that holds the lock; give it and the id of its child."""
    program = HOLDER.format(child=child)
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", program, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
    )
    said = [process.stdout.readline() for _ in range(1 + ("fork" in child))]
    return process, int(max(said).removeprefix("held "))


def kill(process):
    """End the process alone: a child of it may keep its output open."""
    process.kill()
    process.wait()
    process.stdout.close()


def test_nobody_holds_a_run_that_nobody_writes_to(tmp_path):
    assert holder_of(tmp_path) == ""
    with locked_run(tmp_path, pytest.fail):
        assert f"process {os.getpid()} on " in holder_of(tmp_path)
    assert holder_of(tmp_path) == ""


def test_a_second_process_hears_who_holds_it(tmp_path):
    process, _ = hold(tmp_path)
    try:
        with (
            pytest.raises(StoreError, match=rf"process {process.pid} on .*, since 2") as caught,
            locked_run(tmp_path, pytest.fail),
        ):
            pass
    finally:
        kill(process)
    assert "\n" not in caught.value.line


@pytest.mark.parametrize("child", CHILDREN.values(), ids=CHILDREN)
def test_the_lock_of_a_dead_process_is_free_though_its_child_lives(tmp_path, child):
    process, pid = hold(tmp_path, child)
    kill(process)
    try:
        assert holder_of(tmp_path) == ""
        with locked_run(tmp_path, pytest.fail):
            assert str(os.getpid()) in holder_of(tmp_path)
    finally:
        os.kill(pid, 9)


@pytest.mark.parametrize(
    "text", [b"", b"no json", b'{"pid":1,"host":"\xff"}', b'{"host":"\\u001b[31m"}']
)
def test_a_lock_that_does_not_say_who_holds_it_is_held_all_the_same(tmp_path, text):
    with locked_run(tmp_path, pytest.fail):
        (tmp_path / ".lock").write_bytes(text)
        assert holder_of(tmp_path) == "it does not say which"


def test_a_place_that_cannot_be_locked_is_one_error(tmp_path):
    (tmp_path / ".lock").mkdir()
    warnings = []
    with locked_run(tmp_path, warnings.append):
        pass
    assert "knows no locks" in warnings[0]
