"""Stored results of letta-evals, graded again by its own suite: offline, without its server."""

import json
import shutil
import subprocess
import sys

import pytest
from fakes.foreign_records import FOREIGN

import harness

RESULTS = FOREIGN / "letta_evals"
ROWS = [
    {"sample_id": "p-7", "input": "Where is parcel P-7?", "ground_truth": "Ulm"},
    {"sample_id": 1, "input": ["Where is P-8?", "And P-9?"], "ground_truth": ["Bern", "Graz"]},
    {"sample_id": "p-3", "input": "Where is parcel P-3?", "ground_truth": "Oslo"},
]
SUITE = """
name: parcels
dataset: parcels.jsonl
setup_script: setup.py:never
target:
  kind: letta_code
  base_url: http://127.0.0.1:9
  model_handles: [maker/one, maker/two]
graders:
  place: {kind: tool, function: contains}
  calls: {kind: tool, function: "checks.py:asked_once", extractor: all_assistant}
reward: {kind: metric, metric_key: place}
"""
CHECKS = """
from letta_evals import GradeResult, grader

@grader
def asked_once(sample, submission):
    return GradeResult(score=1.0 if "Ulm" in submission else 0.0, rationale=submission)
"""
SETUP = """
from letta_evals import suite_setup

@suite_setup
def never():
    raise RuntimeError("grading drives no agent")
"""


@pytest.fixture
def suite(tmp_path):
    folder = tmp_path / "suite"
    folder.mkdir()
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    (folder / "parcels.jsonl").write_text(lines, encoding="utf-8")
    (folder / "checks.py").write_text(CHECKS, encoding="utf-8")
    (folder / "setup.py").write_text(SETUP, encoding="utf-8")
    (folder / "suite.yaml").write_text(SUITE, encoding="utf-8")
    return folder / "suite.yaml"


def judged(run):
    return {(t.sample_id, t.model, t.epoch): t.grades for t in run.trials()}


def test_a_folder_is_graded_by_its_own_suite(suite, tmp_path):
    run = harness.grade(RESULTS / "newest", suite, out=tmp_path / "runs")
    grades = judged(run)["p-7", "maker/one", 0]
    assert (grades["place"].score, grades["calls"].score) == (1.0, 1.0)
    assert (grades["recorded.place"].score, grades["recorded.tone"].score) == (1.0, 0.5)
    assert judged(run)["1", "maker/one", 0]["place"].score == 1.0
    statuses = {(t.sample_id, t.model): t.status for t in run.trials()}
    assert statuses["p-3", "maker/two"] == "target_error"
    assert statuses["p-3", "maker/one"] == "agent_failure"


@pytest.mark.parametrize("name", ["suite.json", "summary.json"])
def test_a_folder_without_one_of_its_files_is_graded(suite, tmp_path, name):
    folder = tmp_path / "partial"
    shutil.copytree(RESULTS / "newest", folder)
    (folder / name).unlink()
    run = harness.grade(folder, suite, out=tmp_path / "runs")
    assert judged(run)["p-7", "maker/one", 0]["place"].score == 1.0
    assert judged(run)["1", "maker/one", 0]["place"].score == 1.0


def test_an_interrupted_folder_is_graded_and_says_that_a_line_was_torn(suite, tmp_path):
    run = harness.grade(RESULTS / "interrupted", suite, out=tmp_path / "runs")
    assert list(judged(run)) == [("p-7", "maker/one", 0)]
    assert "torn_line" in " ".join(run.summary.warnings)


def test_repeats_are_epochs(suite, tmp_path):
    run = harness.grade(RESULTS / "runs", suite, out=tmp_path / "runs")
    assert list(judged(run)) == [("p-7", "maker/one", 0), ("p-7", "maker/one", 1)]


def test_results_that_bring_their_samples_need_no_dataset(tmp_path):
    path = tmp_path / "suite.yaml"
    path.write_text(
        "name: any\ngraders:\n  place: {kind: tool, function: contains}\n", encoding="utf-8"
    )
    run = harness.grade(RESULTS / "older", path, out=tmp_path / "runs")
    assert judged(run)["0", "maker/old", 1]["place"].score == 1.0


def test_row_numbers_of_old_results_do_not_hide_behind_ids_of_the_dataset(suite, tmp_path):
    rows = [
        {"id": 1, "input": "Where is P-7?", "ground_truth": "Ulm"},
        {"id": 2, "input": "Where is P-8?", "ground_truth": "Bern"},
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (suite.parent / "parcels.jsonl").write_text(lines, encoding="utf-8")
    run = harness.grade(RESULTS / "oldest.jsonl", suite, out=tmp_path / "runs")
    assert judged(run)["1", "maker/old", 0]["place"].score == 1.0
    older = harness.grade(RESULTS / "older", suite, out=tmp_path / "runs")
    assert {t.sample_id: t.status for t in older.trials()} == {
        "1": "completed",
        "2": "target_error",
    }


def test_the_command_grades_a_folder(suite, tmp_path):
    words = ["grade", str(RESULTS / "runs"), "--suite", str(suite), "--out", str(tmp_path / "runs")]
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "place" in done.stdout
