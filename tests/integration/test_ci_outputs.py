"""What CI sees of runs: pages, the summary of a step, annotations and JUnit XML, by the command."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from junitparser import JUnitXml

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
WORKFLOWS = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]
QUICKSTART = ROOT / "suites" / "quickstart"
CI_NAMES = ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE")


def regrade(folder, *words, **environment):
    outside = {name: value for name, value in os.environ.items() if name not in CI_NAMES}
    return subprocess.run(
        [sys.executable, "-m", "harness.cli", *words],
        cwd=folder,
        env={**outside, "PYTHONPATH": str(ROOT), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


@pytest.fixture(scope="module")
def nights(tmp_path_factory):
    """Give a folder with a green night of `careful`, and a red one of `hasty` compared with it."""
    folder = tmp_path_factory.mktemp("nights")
    shutil.copytree(QUICKSTART, folder / "s", ignore=shutil.ignore_patterns("__pycache__"))
    suite = (folder / "s" / "suite.yaml").read_text("utf-8")
    text = suite.replace("model: scripted/careful, ", "")
    (folder / "s" / "suite.yaml").write_text(text, "utf-8")
    green = regrade(folder, "run", "s", "--model", "scripted/careful", "--quiet")
    assert green.returncode == 0, green.stderr
    summary, junit = str(folder / "step.md"), str(folder / "made" / "junit.xml")
    words = ["run", "s", "--model", "scripted/hasty", "--quiet", "--baseline", "latest"]
    ci = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": summary, "GITHUB_WORKSPACE": str(folder)}
    red = regrade(folder, *words, "--junit", junit, **ci)
    assert red.returncode == 1, red.stderr
    (folder / "log.txt").write_text(red.stdout, "utf-8")
    return folder


def page_of(folder):
    return max(folder.glob("runs/*/summary.md")).read_text("utf-8")


def test_the_page_holds_the_verdict_against_the_baseline_and_what_has_changed(nights):
    page = page_of(nights)
    assert "FAILED: 2 of 2 gates missed; 9 of 24 trials did not pass" in page.splitlines()[0]
    assert page.startswith("## quickstart: REGRESSED: scripted/hasty against ")
    assert "regressed samples first differ: **candidate skips `lookup_release_train`**" in page
    assert "- model changed: `scripted/careful` to `scripted/hasty`" in page
    assert len(page.splitlines()) <= 50


def test_explain_prints_the_page_and_the_same_as_json(nights):
    assert regrade(nights, "explain", "latest").stdout == page_of(nights)
    told = json.loads(regrade(nights, "explain", "latest", "--json").stdout)
    assert (told["state"], told["failing"], told["trials"]) == ("regressed", 9, 24)
    assert told["groups"][0]["words"] in page_of(nights)
    assert told["comparisons"][0]["verdict"]["verdict"] == "regressed"


def test_the_page_is_added_to_the_summary_of_the_step(nights):
    assert (nights / "step.md").read_text("utf-8") == f"{page_of(nights)}\n"


def test_failing_samples_are_annotated_at_their_lines_of_the_dataset(nights):
    log = (nights / "log.txt").read_text("utf-8")
    lines = [line for line in log.splitlines() if line.startswith("::")]
    rows = (nights / "s" / "samples.jsonl").read_text("utf-8").splitlines()
    assert lines[0].startswith("::error title=quickstart::REGRESSED: ")
    for line in lines[1:]:
        at = re.match(r"::error file=s/samples\.jsonl,line=(\d+),title=(\S+) on scripted/", line)
        assert json.loads(rows[int(at[1]) - 1])["id"] == at[2]
    assert len(lines) == 10


def test_junit_xml_holds_every_sample_the_gates_and_the_comparison(nights):
    suites = list(JUnitXml.fromfile(str(nights / "made" / "junit.xml")))
    assert [(suite.tests, suite.failures, suite.errors) for suite in suites] == [
        (24, 9, 0),
        (4, 3, 0),
    ]
    failing = [case for case in suites[0] if case.result]
    assert failing[0].result[0].text.startswith("s/samples.jsonl:4\n")


def test_a_report_of_a_stored_run_is_the_one_that_the_run_wrote(nights):
    done = regrade(nights, "report", "latest", "--junit", "-")
    assert done.stdout == (nights / "made" / "junit.xml").read_text("utf-8")
    assert regrade(nights, "report", "latest", "--markdown", "-").stdout == page_of(nights)
    shown = regrade(nights, "report", "latest", "--github").stdout
    assert shown in (nights / "log.txt").read_text("utf-8")


def test_lines_are_put_on_cases_where_that_is_asked_for(nights):
    done = regrade(nights, "report", "latest", "--junit", "-", "--junit-lines")
    assert done.stdout.count('file="s/samples.jsonl" line="') == 24


@pytest.mark.parametrize(
    "words",
    [
        ("report", "latest"),
        ("report", "latest", "--github", "--junit-lines"),
        ("report", "gone", "--github"),
        ("explain", "gone"),
    ],
)
def test_what_cannot_be_reported_is_a_mistake_of_the_user(nights, words):
    done = regrade(nights, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr


def test_a_file_that_cannot_be_written_is_named(nights):
    done = regrade(nights, "report", "latest", "--junit", "s/suite.yaml/junit.xml")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "s/suite.yaml/junit.xml: cannot be written" in done.stderr


@pytest.mark.parametrize("command", ["run", "grade"])
def test_why_a_run_could_not_begin_is_told_in_the_summary_of_the_step(tmp_path, command):
    (tmp_path / "suite.yaml").write_text("name: s\nnothing: [1]\n", "utf-8")
    (tmp_path / "records.jsonl").write_text("{}\n", "utf-8")
    words = ("suite.yaml",) if command == "run" else ("records.jsonl", "--suite", "suite.yaml")
    done = regrade(tmp_path, command, *words, GITHUB_STEP_SUMMARY=str(tmp_path / "step.md"))
    assert done.returncode == 2
    told = (tmp_path / "step.md").read_text("utf-8")
    assert told.startswith(f"## `{words[0]}`: ENDED IN AN ERROR\n")
    assert "suite.yaml:2:1: nothing" in told


def test_a_secret_is_no_part_of_the_summary_of_the_step(tmp_path):
    step = str(tmp_path / "step.md")
    secret = "sk-1234567890abcdef"
    regrade(tmp_path, "run", secret, GITHUB_STEP_SUMMARY=step, OPENAI_API_KEY=secret)
    assert secret not in Path(step).read_text("utf-8")


def test_a_summary_of_the_step_that_cannot_be_written_changes_nothing(nights):
    done = regrade(
        nights, "grade", "latest", "--out", "again", "--quiet", GITHUB_STEP_SUMMARY=str(nights)
    )
    assert done.returncode == 1
    assert "GITHUB_STEP_SUMMARY cannot be written" in done.stderr


def test_a_run_that_should_have_been_compared_and_was_not_says_so_on_its_page(tmp_path):
    shutil.copytree(QUICKSTART, tmp_path / "s", ignore=shutil.ignore_patterns("__pycache__"))
    words = ("--baseline", "latest", "--require-baseline", "--quiet", "--limit", "1")
    done = regrade(tmp_path, "run", "s", *words)
    assert done.returncode == 3
    page = page_of(tmp_path)
    assert "should have been compared, and there is no baseline yet: " in page.splitlines()[0]
    assert regrade(tmp_path, "explain", "latest").stdout == page


def test_why_a_comparison_failed_as_a_run_ended_is_still_known_later(tmp_path):
    shutil.copytree(QUICKSTART, tmp_path / "s", ignore=shutil.ignore_patterns("__pycache__"))
    words = ("--baseline", "latest", "--quiet", "--limit", "1")
    assert regrade(tmp_path, "run", "s", "--quiet", "--limit", "1").returncode == 0
    (first,) = (tmp_path / "runs").glob("[!.]*")
    (first / "trials.jsonl").write_text("no trial\n{}\n", "utf-8")
    done = regrade(tmp_path, "run", "s", *words)
    assert done.returncode == 3
    (why,) = (line for line in done.stderr.splitlines() if line.startswith("not compared: "))
    page = page_of(tmp_path)
    assert why.removeprefix("not compared: ")[:60] in page.splitlines()[0]
    assert regrade(tmp_path, "explain", "latest").stdout == page
    junit = regrade(tmp_path, "report", "latest", "--junit", "-").stdout
    assert "it was not compared with its baseline" in junit
    # Going on with the run compares it as it was to be, now with nothing that is damaged.
    assert regrade(tmp_path, "run", "--resume", "latest", "--quiet").returncode == 3
    shutil.rmtree(first)
    assert regrade(tmp_path, "run", "--resume", "latest", "--quiet").returncode == 0
    assert why.removeprefix("not compared: ")[:60] not in page_of(tmp_path)


def scripts():
    jobs = [job for workflow in WORKFLOWS for job in workflow.get("jobs", {}).values()]
    return [step for job in jobs for step in job["steps"] if "run" in step]


def script(name):
    (found,) = (step["run"] for step in scripts() if step.get("name") == name)
    return found


class TestDocumentedWorkflows:
    """The scripts of the workflows in `docs/ci.md` do what the page says."""

    def bash(self, folder, text, **environment):
        path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", text],
            cwd=folder,
            env={**os.environ, "PATH": path, **environment},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    def fake_gh(self, folder, answer):
        """Put a `gh` on the path that answers a listing, and writes down what it is told."""
        (folder / "bin").mkdir()
        gh = folder / "bin" / "gh"
        gh.write_text(
            f'#!/bin/sh\necho "$*" >> "{folder}/asked"\n'
            f'case "$*" in *--paginate*) printf "{answer}" ;; esac\n',
            "utf-8",
        )
        gh.chmod(0o755)

    def test_every_script_is_shell(self, tmp_path):
        assert len(scripts()) >= 7
        for step in scripts():
            text = re.sub(r"\$\{\{.*?\}\}", "x", step["run"])
            checked = subprocess.run(["bash", "-n"], input=text.encode(), check=False)
            assert checked.returncode == 0, step

    @pytest.mark.parametrize(
        ("listed", "told"),
        [
            ("", "--method POST repos/o/r/issues/7/comments"),
            ("42\\n", "--method PATCH repos/o/r/issues/comments/42"),
        ],
    )
    def test_the_comment_is_made_once_and_then_updates_itself(self, tmp_path, listed, told):
        self.fake_gh(tmp_path, listed)
        page = tmp_path / "runs" / "1" / "summary.md"
        page.parent.mkdir(parents=True)
        page.write_text("## all is well\n", "utf-8")
        done = self.bash(tmp_path, script("Comment"), GITHUB_REPOSITORY="o/r", NUMBER="7")
        assert done.returncode == 0, done.stderr
        assert told in (tmp_path / "asked").read_text("utf-8").splitlines()[-1]
        body = (tmp_path / "comment.md").read_text("utf-8")
        assert body == "<!-- regrade: suites/quickstart -->\n## all is well\n"

    def test_a_run_that_could_not_begin_is_commented_too(self, tmp_path):
        self.fake_gh(tmp_path, "")
        done = self.bash(tmp_path, script("Comment"), GITHUB_REPOSITORY="o/r", NUMBER="7")
        assert done.returncode == 0, done.stderr
        assert "could not begin" in (tmp_path / "comment.md").read_text("utf-8")

    @pytest.mark.parametrize(("key", "found"), [("", "false"), ("k", "true")])
    def test_a_fork_without_secrets_is_skipped_loudly(self, tmp_path, key, found):
        files = {"GITHUB_OUTPUT": tmp_path / "output", "GITHUB_STEP_SUMMARY": tmp_path / "step"}
        environment = {name: str(path) for name, path in files.items()}
        text = script("Are there secrets?")
        done = self.bash(tmp_path, text, OPENAI_API_KEY=key, **environment)
        assert done.returncode == 0
        assert files["GITHUB_OUTPUT"].read_text("utf-8") == f"found={found}\n"
        loud = "::warning title=The agent was NOT evaluated::" in done.stdout
        assert loud is (not key)
        assert files["GITHUB_STEP_SUMMARY"].exists() is (not key)
