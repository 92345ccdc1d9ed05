import asyncio
import importlib.util
import sys
from types import ModuleType

import pytest
from fakes.factories import make_custom, make_sample, make_trajectory

from harness.grading.judging import grade_trajectory
from harness.types.suites import Limits

SOURCE = """
from __future__ import annotations
import asyncio, os, sys, time
import graders.catalogue
import harness.types.grades
import besides
from . import beside as relative

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

def nothing(sample, submission):
    return None
"""


@pytest.fixture
def load(tmp_path):
    """Load a suite's file as loading does: under a private package, siblings beside it."""
    names = []

    def load(source=SOURCE):
        for name in ("besides", "beside"):
            (tmp_path / f"{name}.py").write_text("WANTED = 'It is K41.'\n", encoding="utf-8")
        path = tmp_path / "checks.py"
        path.write_text(source, encoding="utf-8")
        package = f"_suite_{abs(hash(tmp_path))}"
        sys.modules[package] = ModuleType(package)
        sys.modules[package].__path__ = [str(tmp_path)]
        sys.path.append(str(tmp_path))
        spec = importlib.util.spec_from_file_location(f"{package}.checks", path)
        module = importlib.util.module_from_spec(spec)
        names.extend([package, f"{package}.checks"])
        sys.modules[f"{package}.checks"] = module
        spec.loader.exec_module(module)
        return module

    yield load
    for name in [*names, "besides", f"{names[0]}.beside" if names else ""]:
        sys.modules.pop(name, None)
    if str(tmp_path) in sys.path:
        sys.path.remove(str(tmp_path))


async def judged(function, seconds=30.0):
    spec = make_custom(function, isolation="process")
    grades = await grade_trajectory(
        [spec],
        make_sample(),
        make_trajectory(),
        snapshots={"database": {"rows": 3}},
        limits=Limits(grader_seconds=seconds),
    )
    return grades[spec.name]


async def test_a_function_grades_in_a_process_of_its_own_that_is_used_again(load):
    module = load()
    one, two = await judged(module.same), await judged(module.same)
    assert (one.score, one.passed, one.submission) == (1.0, True, "It is K41.")
    assert one.details["pid"] == two.details["pid"]


async def test_an_async_function_gets_trajectory_and_snapshots_there_too(load):
    assert (await judged(load().later)).passed is True


async def test_what_overruns_is_killed_and_the_next_call_gets_another_process(load):
    module = load()
    one, two, other = await asyncio.gather(
        judged(module.hangs, 0.3), judged(module.hangs, 0.3), judged(module.same)
    )
    assert one.evidence == two.evidence == "grader_timeout: took longer than 0.3 s"
    assert other.passed is True


@pytest.mark.parametrize(
    ("name", "evidence"),
    [
        ("dies", "grader_broke: its process ended with code 3"),
        ("leaves", "grader_broke: SystemExit: done (checks.py:"),
        ("breaks", "grader_broke: KeyError: 'missing' (checks.py:"),
        ("nothing", "grader_broke: returned None;"),
    ],
)
async def test_whatever_goes_wrong_in_the_process_is_an_error_grade(load, name, evidence):
    module = load()
    made = await judged(getattr(module, name))
    assert made.status == "error"
    assert made.evidence.startswith(evidence)
    assert (await judged(module.same)).passed is True


async def test_a_file_that_can_no_longer_be_imported_is_an_error_grade(load, tmp_path):
    module = load()
    (tmp_path / "checks.py").write_text("1 / 0\n", encoding="utf-8")
    made = await judged(module.same)
    assert made.evidence.startswith("grader_broke: ZeroDivisionError")
