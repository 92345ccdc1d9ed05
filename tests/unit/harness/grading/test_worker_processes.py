import asyncio
import os
from pathlib import Path

import pytest
from fakes.factories import make_custom, make_sample, make_trajectory

from harness.grading.judging import grade_trajectory
from harness.grading.worker_processes import worker_processes
from harness.system.private_modules import PrivateModules
from harness.types.marks import public_names
from harness.types.suites import Limits

SOURCE = """
from __future__ import annotations
import asyncio, functools, os, signal, sys, time
from pathlib import Path
import graders.catalogue
import harness.types.grades
import besides
from harness import grader
from . import beside as relative

HERE = Path(__file__).parent

def same(sample, submission):
    print("noise on standard output")
    return {"score": submission == besides.WANTED, "pid": os.getpid()}

async def later(sample, submission, trajectory, database):
    await asyncio.sleep(0)
    return len(trajectory.turns) == 1 and database["rows"] == 3 and relative.WANTED == submission

def hangs(sample, submission):
    while True:
        time.sleep(0.01)

def dies(sample, submission):
    os._exit(3)

def leaves(sample, submission):
    sys.exit("done")

def breaks(sample, submission):
    return sample.metadata["missing"]

def counts(sample, submission):
    # The processes that live in a group of their own and have the same parent as this one.
    count = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent, group = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        count += state != "Z" and int(parent) == os.getppid() and group == stat.parent.name
    return {"score": 1, "workers": count}

def nothing(sample, submission):
    return None

def reads(sample, submission):
    return sys.stdin.read() == ""

def child(then=lambda: None):
    pid = os.fork()
    if pid == 0:
        then()
        signal.pause()
    (HERE / "child").write_text(str(pid))

def forks(sample, submission):
    child()
    return True

def forks_and_hangs(sample, submission):
    child()
    signal.pause()

def forks_and_dies(sample, submission):
    child()
    os._exit(3)

def forks_out_of_the_group_and_hangs(sample, submission):
    child(then=os.setsid)
    signal.pause()

def forks_and_both_answer(sample, submission):
    return {"score": 1, "child": os.fork() == 0}

def of(wanted):
    def closure(sample, submission):
        return submission == wanted
    return closure

made = of(besides.WANTED)
short = lambda sample, submission: submission == besides.WANTED

class Checks:
    class Inner:
        @staticmethod
        def check(sample, submission):
            return submission == besides.WANTED
    def __call__(self, sample, submission):
        return submission == besides.WANTED
    def method(self, sample, submission):
        return self(sample, submission)

inner = Checks.Inner.check
called = Checks()
method = called.method

@functools.wraps(breaks)
def wrapped(sample, submission):
    return True

@grader(name="a better name")
def marked(sample, submission):
    return True
"""


@pytest.fixture
def suite(tmp_path):
    """Load a suite's file as loading does: `suite(name)` is the spec of the function."""
    for name in ("besides", "beside"):
        (tmp_path / f"{name}.py").write_text("WANTED = 'It is K41.'\n", encoding="utf-8")
    path = tmp_path / "checks.py"
    path.write_text(SOURCE, encoding="utf-8")
    names = public_names(PrivateModules(tmp_path).load(path))
    return lambda name: make_custom(names[name], name=name, file=path, isolation="process")


async def judged(spec, seconds=30.0):
    grades = await grade_trajectory(
        [spec],
        make_sample(),
        make_trajectory(),
        snapshots={"database": {"rows": 3}},
        limits=Limits(grader_seconds=seconds),
    )
    return grades[spec.name]


async def until(holds):
    """Wait until something holds, but not for ever."""
    for _ in range(1000):
        if holds():
            return True
        await asyncio.sleep(0.02)
    return False


async def gone(pid):
    """Wait until a process has ended; one whose parent has not looked yet counts as ended."""
    return await until(lambda: state_of(pid) in ("", "Z"))


def state_of(pid):
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return ""
    except FileNotFoundError:
        return "?"


async def child_of(folder):
    """Wait for the child that a function has forked; give its process id."""
    file = folder / "child"
    assert await until(lambda: file.exists() and file.read_text("utf-8"))
    return int(file.read_text("utf-8"))


async def test_a_function_grades_in_a_process_that_is_used_again_for_every_function_of_its_file(
    suite,
):
    async with worker_processes(2):
        one, two = await judged(suite("same")), await judged(suite("same"))
        other = await judged(suite("later"))
    assert (one.score, one.passed, one.submission) == (1.0, True, "It is K41.")
    assert one.details["pid"] == two.details["pid"] != os.getpid()
    assert other.passed is True


async def test_outside_a_run_every_call_has_a_process_of_its_own_which_ends_with_it(suite):
    one, two = await judged(suite("same")), await judged(suite("same"))
    assert one.details["pid"] != two.details["pid"]
    assert await gone(one.details["pid"])
    assert await gone(two.details["pid"])


async def test_all_processes_end_with_the_run(suite):
    async with worker_processes(3):
        made = await asyncio.gather(*(judged(suite("same")) for _ in range(5)))
    pids = {grade.details["pid"] for grade in made}
    assert [await gone(pid) for pid in pids] == [True] * len(pids)


@pytest.mark.parametrize("most", [1, 2])
async def test_there_are_never_more_processes_than_the_run_allows(suite, tmp_path, most):
    (tmp_path / "others.py").write_text(SOURCE, encoding="utf-8")
    here = suite("counts")
    there = make_custom(
        here.grader.function, name="counts", file=tmp_path / "others.py", isolation="process"
    )
    async with worker_processes(most):
        made = await asyncio.gather(*(judged(spec) for spec in [here, there] * 8))
    assert {grade.status for grade in made} == {"graded"}
    # One that makes room for the next was killed, but may be seen for a moment longer.
    assert max(grade.details["workers"] for grade in made) <= most + 1


async def test_what_overruns_is_killed_and_the_next_call_gets_another_process(suite):
    async with worker_processes(3):
        one, two, other = await asyncio.gather(
            judged(suite("hangs"), 0.3), judged(suite("hangs"), 0.3), judged(suite("same"))
        )
    assert one.evidence == two.evidence == "grader_timeout: took longer than 0.3 s"
    assert other.passed is True


async def test_waiting_for_a_process_is_not_charged_to_a_grader(suite):
    async with worker_processes(1):
        made = await asyncio.gather(judged(suite("hangs"), 1.0), judged(suite("same"), 1.0))
    assert [grade.status for grade in made] == ["error", "graded"]


@pytest.mark.parametrize(
    ("name", "evidence"),
    [
        ("forks_and_hangs", "grader_timeout: took longer than 0.5 s"),
        ("forks_and_dies", "grader_broke: its process ended with code 3"),
    ],
)
async def test_what_a_function_has_started_is_killed_with_its_process(
    suite, tmp_path, name, evidence
):
    made = await judged(suite(name), 0.5)
    assert made.evidence == evidence
    assert await gone(await child_of(tmp_path))


async def test_what_a_function_has_left_behind_is_killed_at_the_end_of_the_run(suite, tmp_path):
    async with worker_processes(1):
        assert (await judged(suite("forks"))).passed is True
    assert await gone(await child_of(tmp_path))


async def test_a_child_that_escapes_with_the_pipes_holds_up_nobody(suite, tmp_path):
    async with asyncio.timeout(20):
        made = await judged(suite("forks_out_of_the_group_and_hangs"), 0.5)
    assert made.evidence == "grader_timeout: took longer than 0.5 s"
    pid = await child_of(tmp_path)
    os.kill(pid, 9)
    assert await gone(pid)


async def test_a_forked_child_that_comes_back_from_the_function_does_not_answer(suite):
    async with worker_processes(1):
        for _ in range(3):
            assert (await judged(suite("forks_and_both_answer"))).details == {"child": False}
            assert (await judged(suite("same"))).passed is True


async def test_a_trial_that_is_given_up_ends_its_process(suite, tmp_path):
    async with worker_processes(1):
        grading = asyncio.ensure_future(judged(suite("forks_and_hangs")))
        child = await child_of(tmp_path)
        grading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await grading
        assert await gone(child)
        assert (await judged(suite("same"))).passed is True


@pytest.mark.parametrize(
    ("name", "evidence"),
    [
        ("dies", "grader_broke: its process ended with code 3"),
        ("leaves", "grader_broke: SystemExit: done (checks.py:"),
        ("breaks", "grader_broke: KeyError: 'missing' (checks.py:"),
        ("nothing", "grader_broke: returned None;"),
    ],
)
async def test_whatever_goes_wrong_in_the_process_is_an_error_grade(suite, name, evidence):
    async with worker_processes(1):
        made = await judged(suite(name))
        assert made.status == "error"
        assert made.evidence.startswith(evidence)
        assert (await judged(suite("same"))).passed is True


@pytest.mark.parametrize(
    "name", ["made", "short", "inner", "called", "method", "wrapped", "a better name", "reads"]
)
async def test_whatever_a_suite_can_name_is_found_in_the_process(suite, name):
    made = await judged(suite(name))
    assert (made.status, made.passed) == ("graded", True)
    assert made.evidence.endswith("returned True")


async def test_a_file_that_can_no_longer_be_imported_is_an_error_grade(suite, tmp_path):
    spec = suite("same")
    (tmp_path / "checks.py").write_text("1 / 0\n", encoding="utf-8")
    assert (await judged(spec)).evidence.startswith("grader_broke: ZeroDivisionError")


async def test_a_function_that_its_file_no_longer_has_is_an_error_grade(suite, tmp_path):
    spec = suite("same")
    (tmp_path / "checks.py").write_text("", encoding="utf-8")
    assert (await judged(spec)).evidence == "grader_broke: its file has no 'same' any more"


async def test_what_cannot_be_sent_to_a_process_is_an_error_grade(suite):
    spec = suite("same")
    grades = await grade_trajectory(
        [spec],
        make_sample(metadata={"f": lambda: 0}),
        make_trajectory(),
        snapshots={},
        limits=Limits(),
    )
    assert grades["same"].status == "error"
