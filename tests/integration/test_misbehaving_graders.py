"""Graders of a suite that misbehave break their own grade, and nothing else."""

import json
import os
import subprocess
import sys
import time

import pytest

import harness

SUITE = """
name: misbehaving
samples: [{{id: a, input: x}}, {{id: b, input: y}}]
target: {{kind: python, agent: "checks.py:agent"}}
limits: {{grader_seconds: {seconds}}}
graders:
  bad: {{type: "checks.py:{name}", role: observed, isolation: {isolation}}}
  good: {{type: "checks.py:good", isolation: {isolation}}}
"""
CHECKS = '''
import math
import os
import resource
import signal
import sys
import time
from types import SimpleNamespace

def agent(sample):
    return sample.input

def good(trajectory):
    return 1.0

class Scalar:
    """What numpy's scalars look like."""
    shape = ()
    def __init__(self, value): self.value = value
    def item(self): return self.value

def returning(value):
    def grader(trajectory):
        return value
    return grader

nan = returning(math.nan)
infinite = returning(math.inf)
none = returning(None)
seven = returning(7)
text = returning("0.8")
above = returning(1.0000001)
below = returning(-1e-12)
pair = returning([1, 0])
huge = returning(10**400)
nan_inside = returning({"score": math.nan})
scalar_nan = returning(Scalar(math.nan))
scalar = returning(Scalar(1.0))
minus_zero = returning(-0.0)
true = returning(True)
nan_in_details = returning({"score": 1.0, "details": {"x": math.nan}})
hostile = returning(SimpleNamespace(score=1.0, rationale="x" * 5_000_000))

def raises(trajectory): raise ValueError("broken")
def leaves(trajectory): sys.exit(0)
def interrupts(trajectory): raise KeyboardInterrupt
def recurses(trajectory): return recurses(trajectory)
def hangs(trajectory): time.sleep(60)
def spins(trajectory):
    while True: pass
def kills_itself(trajectory): os.kill(os.getpid(), signal.SIGKILL)
def ends_at_once(trajectory): os._exit(0)
def forks(trajectory): return float(os.fork() > 0)
def eats(trajectory):
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    return len(bytearray(1 << 31))
def closes(trajectory):
    for number in range(64):
        try: os.close(number)
        except OSError: pass
    return 1.0
'''
SCORES = {"scalar": 1.0, "minus_zero": 0.0, "true": 1.0, "hostile": 1.0}
BROKEN = (
    *("nan", "infinite", "none", "seven", "text", "above", "below", "pair", "huge", "nan_inside"),
    *("scalar_nan", "nan_in_details", "raises", "leaves", "interrupts", "recurses"),
)
IN_PROCESSES = {
    "hangs": "grader_timeout",
    "spins": "grader_timeout",
    "kills_itself": "grader_broke",
    "ends_at_once": "grader_broke",
    "eats": "grader_broke",
    "closes": "grader_broke",
}


def _write(folder, name, *, isolation="thread", seconds=20):
    text = SUITE.format(name=name, isolation=isolation, seconds=seconds)
    (folder / "suite.yaml").write_text(text, encoding="utf-8")
    (folder / "checks.py").write_text(CHECKS, encoding="utf-8")


def _graded(folder):
    run = harness.run(folder / "suite.yaml", out=folder / "runs")
    assert run.summary.complete, run.summary.reasons
    model = run.summary.models["default"]
    assert model.graders["good"].mean == 1.0
    json.loads((run.folder / "summary.json").read_text("utf-8"), parse_constant=pytest.fail)
    for line in (run.folder / "trials.jsonl").read_text("utf-8").splitlines():
        json.loads(line, parse_constant=pytest.fail)
    return run, [trial.grades["bad"] for trial in run.trials()]


@pytest.mark.parametrize("isolation", ["thread", "process"])
@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_judgement_breaks_its_own_grade_alone(tmp_path, name, isolation):
    _write(tmp_path, name, isolation=isolation)
    run, grades = _graded(tmp_path)
    assert [grade.status for grade in grades] == ["error", "error"]
    assert {grade.details["code"] for grade in grades} == {"grader_broke"}
    assert {(grade.score, grade.passed) for grade in grades} == {(None, None)}
    bad = run.summary.models["default"].graders["bad"]
    assert (bad.graded, bad.passed, bad.errors) == (0, 0, 2)


@pytest.mark.parametrize("isolation", ["thread", "process"])
@pytest.mark.parametrize("name", list(SCORES))
def test_what_stands_for_a_score_is_one(tmp_path, name, isolation):
    _write(tmp_path, name, isolation=isolation)
    _, grades = _graded(tmp_path)
    assert [grade.score for grade in grades] == [SCORES[name]] * 2
    assert all(len(grade.evidence) < 10_000 for grade in grades)


@pytest.mark.parametrize("name", list(IN_PROCESSES))
def test_a_grader_that_ruins_its_process_breaks_its_own_grade_alone(tmp_path, name):
    seconds = 1 if IN_PROCESSES[name] == "grader_timeout" else 20
    _write(tmp_path, name, isolation="process", seconds=seconds)
    _, grades = _graded(tmp_path)
    assert [grade.details["code"] for grade in grades] == [IN_PROCESSES[name]] * 2


def test_a_grader_that_forks_is_graded_once(tmp_path):
    _write(tmp_path, "forks", isolation="process")
    _, grades = _graded(tmp_path)
    assert [grade.score for grade in grades] == [1.0, 1.0]


def test_a_sync_grader_that_overruns_in_a_thread_is_given_up(tmp_path):
    _write(tmp_path, "hangs", seconds=0.3)
    started = time.monotonic()
    _, grades = _graded(tmp_path)
    assert [grade.details["code"] for grade in grades] == ["grader_timeout"] * 2
    # It would have slept for a minute.
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("isolation", ["thread", "process"])
@pytest.mark.parametrize("act", ["time.sleep(60)", "any(False for _ in range(400_000_000))"])
def test_others_go_on_meanwhile(tmp_path, isolation, act):
    _write(tmp_path, "slow_once", isolation=isolation, seconds=4)
    slow = f"def slow_once(sample, trajectory):\n    return {act} if sample.id == 'a' else 1.0\n"
    (tmp_path / "checks.py").write_text(f"{CHECKS}\n{slow}", encoding="utf-8")
    suite = (tmp_path / "suite.yaml").read_text("utf-8")
    rows = [f"{{id: {name}, input: x}}" for name in ("a", *map(str, range(60)))]
    suite = suite.replace("{id: a, input: x}, {id: b, input: y}", ", ".join(rows))
    (tmp_path / "suite.yaml").write_text(suite, encoding="utf-8")
    run = harness.run(tmp_path / "suite.yaml", out=tmp_path / "runs", concurrency=2)
    # One of two workers waits for the whole time limit: the other has done the rest by then.
    trials = list(run.trials())
    assert [trial.sample_id for trial in trials].index("a") > 30
    assert [t.grades["bad"].status for t in trials if t.sample_id == "a"] == ["error"]


PRINTING = """
import sys

def agent(sample):
    return sample.input

def good(trajectory):
    return 1.0

def prints(trajectory):
    for number in range(40):
        print("\\x1b[31mline", number, "x" * 100_000)
        sys.stderr.write("y" * 100_000)
    return 1.0
"""


@pytest.mark.parametrize("isolation", ["thread", "process"])
def test_a_grader_that_prints_megabytes_does_not_flood_the_terminal(tmp_path, isolation):
    _write(tmp_path, "prints", isolation=isolation)
    (tmp_path / "checks.py").write_text(PRINTING, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", "run", "suite.yaml"],
        cwd=tmp_path,
        env=dict(os.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(done.stdout) + len(done.stderr) < 500_000
    assert b"further characters, not shown" in done.stderr
    assert b"2/2" in done.stdout
