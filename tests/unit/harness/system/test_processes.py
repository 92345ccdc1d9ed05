"""Families of processes, which Linux alone tells of; the tests hold on any system."""

import os
import subprocess
import sys

import pytest

from harness.system.processes import Process, family_of, kill_marked

LINUX = sys.platform == "linux"
STARTS = """
import os, subprocess, sys, time
sleep = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
child = subprocess.Popen([*sys.argv[1:], *sleep])
print(child.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def parent(request):
    """Give a process in a session of its own, and the number of what it has started."""
    before = getattr(request, "param", [])
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", STARTS, *before],
        stdout=subprocess.PIPE,
        start_new_session=True,
        env={"PATH": os.environ["PATH"], "MARK": f"m{os.getpid()}"},
    )
    child = int(process.stdout.readline())
    yield process, child
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.mark.parametrize("parent", [[], ["setsid"], ["env", "-i", "setsid"]], indirect=True)
def test_the_family_of_a_process_is_what_it_has_started_whatever_these_see(parent):
    process, child = parent
    family = {one.pid for one in family_of(process.pid)}
    assert family == ({process.pid, child} if LINUX else set())


@pytest.mark.parametrize("parent", [["env", "-i", "setsid"]], indirect=True)
def test_a_known_process_without_the_mark_is_killed_after_its_parent(parent):
    process, child = parent
    known = family_of(process.pid)
    process.kill()
    process.wait()
    assert kill_marked("MARK", "no such value") == 0
    assert kill_marked("MARK", "no such value", known) == (1 if LINUX else 0)
    assert child not in {one.pid for one in family_of(child)}


def test_a_number_that_was_used_again_is_left_alone(parent):
    process, _ = parent
    other = Process(process.pid, 0)
    assert kill_marked("MARK", "no such value", [other]) == 0
    assert process.poll() is None


def test_the_family_of_what_has_ended_is_empty():
    done = subprocess.Popen([sys.executable, "-S", "-c", "pass"], start_new_session=True)
    done.wait()
    assert family_of(done.pid) == frozenset()


def test_we_are_in_no_family_that_is_killed():
    mine = family_of(os.getpid())
    assert os.getpid() not in {one.pid for one in mine}
