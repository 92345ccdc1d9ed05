"""`regrade init` as a newcomer meets it: the starter suite is written, valid, and runs at once."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

REGRADE = Path(sys.executable).parent / "regrade"
FILES = ["agent.py", "checks.py", "samples.jsonl", "suite.yaml"]


@pytest.fixture
def regrade(tmp_path):
    """Give the command, run in an empty folder by someone who has no key."""
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}

    def run(*arguments):
        return subprocess.run(
            [REGRADE, *map(str, arguments)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            check=False,
            encoding="utf-8",
        )

    return run


@pytest.mark.parametrize("folder", ["evals", "my suites/first one"])
def test_the_starter_suite_is_valid_and_runs_at_once(regrade, tmp_path, folder):
    written = regrade("init", folder)
    assert written.returncode == 0, written.stderr
    assert sorted(path.name for path in (tmp_path / folder).iterdir()) == FILES
    validated = regrade("validate", f"{folder}/suite.yaml")
    assert validated.returncode == 0, validated.stdout + validated.stderr
    ran = regrade("run", f"{folder}/suite.yaml", "--out", "runs")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    trials = next((tmp_path / "runs").glob("*/trials.jsonl")).read_text(encoding="utf-8")
    rows = list(map(json.loads, trials.splitlines()))
    assert Counter(row["model"] for row in rows) == {"before": 6, "after": 6}
    failed = [(row["model"], row["sample_id"]) for row in rows if not row["passed"]]
    assert failed == [("before", "changes-order")]
    assert "changes-order" in ran.stdout


def test_a_folder_is_named_instead_of_its_suite_file(regrade):
    regrade("init")
    ran = regrade("run", "evals", "--model", "after")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_regression_of_the_new_version_turns_the_run_red(regrade, tmp_path):
    regrade("init")
    agent = tmp_path / "evals" / "agent.py"
    text = agent.read_text(encoding="utf-8")
    agent.write_text(text.replace('== "before"', '== "after"'), encoding="utf-8")
    assert regrade("run", "evals").returncode == 1


def test_it_says_what_to_do_next(regrade):
    said = regrade("init", "new suite").stdout
    assert 'regrade run "new suite"' in said
    assert str(Path("new suite", "agent.py")) in said


@pytest.mark.parametrize("there", [["agent.py"], FILES])
def test_nothing_is_overwritten(regrade, tmp_path, there):
    folder = tmp_path / "evals"
    folder.mkdir()
    for name in there:
        (folder / name).write_text("mine", encoding="utf-8")
    refused = regrade("init")
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 1
    assert all(name in refused.stderr for name in there)
    assert sorted(path.name for path in folder.iterdir()) == there
    assert {path.read_text(encoding="utf-8") for path in folder.iterdir()} == {"mine"}


def test_a_link_that_leads_nowhere_is_no_free_place(regrade, tmp_path):
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "suite.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    assert regrade("init").returncode == 2
    assert not (tmp_path / "elsewhere.yaml").exists()


def test_a_file_in_the_place_of_the_folder_is_refused_in_one_line(regrade, tmp_path):
    (tmp_path / "evals").write_text("mine", encoding="utf-8")
    refused = regrade("init")
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 1
    assert refused.stderr.startswith("evals: cannot be written")


def test_other_files_in_the_folder_are_left_alone(regrade, tmp_path):
    (tmp_path / "notes.md").write_text("mine", encoding="utf-8")
    assert regrade("init", ".").returncode == 0
    assert (tmp_path / "notes.md").read_text(encoding="utf-8") == "mine"
