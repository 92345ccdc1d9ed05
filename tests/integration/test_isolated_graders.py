"""Graders in processes of their own, from the suite's text to the end of the run."""

import os
from pathlib import Path

import pytest

import harness

SUITE = """
name: isolated
samples: [{id: a, input: x}, {id: b, input: y}, {id: c, input: z}]
target: {kind: python, agent: "checks.py:agent"}
limits: {concurrency: 2}
graders:
  same: {kind: tool, function: "lib/graders.py:the same", isolation: process, config: {k: 1}}
"""
AGENT = "def agent(sample):\n    return sample.input\n"
GRADERS = """
import os
import harness
from beside import WANTED

def named(wanted):
    @harness.grader(name="the same")
    def closure(sample, submission, config, missing=None):
        return {"score": submission == sample.input and config == wanted and missing is None,
                "pid": os.getpid()}
    return closure

made = named(WANTED)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    (tmp_path / "checks.py").write_text(AGENT, encoding="utf-8")
    (tmp_path / "lib" / "graders.py").write_text(GRADERS, encoding="utf-8")
    (tmp_path / "lib" / "beside.py").write_text("WANTED = {'k': 1}\n", encoding="utf-8")
    return tmp_path


def children():
    """Give the processes that this one has started, in whichever thread."""
    lists = [path.read_text("utf-8") for path in Path("/proc/self/task").glob("*/children")]
    return {pid for text in lists for pid in text.split()}


def pids_of(run):
    grades = [trial.grades["same"] for trial in run.trials()]
    assert [grade.passed for grade in grades] == [True] * 3, grades
    return {grade.details["pid"] for grade in grades} - {os.getpid()}


def test_runs_and_replays_in_one_interpreter_leave_no_process_behind(folder):
    before = children()
    run = harness.run(folder / "suite.yaml", out=folder / "runs")
    # A changed grader grades again.
    (folder / "lib" / "graders.py").write_text(f"{GRADERS}\n\n", encoding="utf-8")
    again = harness.grade(run, folder / "suite.yaml", out=folder / "runs")
    pids = [pids_of(run), pids_of(again)]
    assert pids[0].isdisjoint(pids[1])
    assert [len(part) <= 2 for part in pids] == [True, True]
    assert children() <= before
