"""Five regressions are planted, and the first ten lines of `summary.md` name the cause of each."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import harness

QUICKSTART = Path(__file__).parents[2] / "suites" / "quickstart"
LOOKS_UP = {"replies": 0, "user": "(?P<service>[a-z]+-[a-z]+)"}
TOLD = {
    "results": {"lookup_release_train": '"service":"(?P<service>.+?)".*"leaves":"(?P<leaves>.+?)"'}
}
RULES = {
    "a skipped tool": {
        "when": {"replies": 0, "user": "(?i)(?P<service>billing-core|mail-relay|login-portal)"},
        "say": "{service} leaves on Monday.",
    },
    "an invented id": {
        "when": TOLD,
        "invent": {"id": "rt_{hex:16}"},
        "say": "{service} leaves on {leaves} with release {id}.",
    },
    "a wrong argument": {
        "when": {"replies": 0, "user": "(?i)(?P<service>billing-core|mail-relay|login-portal)"},
        "call": {"lookup_release_train": {"service": "{service}-eu"}},
    },
    "a provider outage": {"when": {"user": "billing-core|mail-relay|login-portal"}, "status": 503},
}
BROKEN_GRADER = """
from harness import grader


@grader
def has_channel(sample, submission):
    return {"Team Dune": 1.0}[sample.ground_truth]
"""
CAUSES = {
    "a skipped tool": ["agent", "surfaced_id", "lookup_release_train"],
    "an invented id": ["agent", "surfaced_id", "says an identifier that no tool and no user gave"],
    "a wrong argument": ["agent", "calls `lookup_release_train` with a made-up `service`"],
    "a provider outage": [
        *("provider", "overloaded", "503"),
        "**Next:** Wait until the provider answers again, then go on with it: `regrade run --resum",
    ],
    "a broken grader": [
        *("grader", "has_channel broke on ", "trials: KeyError: ", "(checks.py:7)"),
        "**Next:** Mend the grader has_channel (checks.py:7), then go on with it: `regrade run --",
    ],
}
SKIPPING = {
    "alone": "calls no tool, where passing trials call `lookup_release_train`",
    "beside another": "skips `lookup_release_train`",
}


def plant(folder, what):
    """Write a suite whose model `candidate` is `careful` but for one thing."""
    shutil.copytree(QUICKSTART, folder, ignore=shutil.ignore_patterns("__pycache__"))
    script = yaml.safe_load((folder / "models.yaml").read_text("utf-8"))
    rules = [{"name": what, **RULES[what]}] if what in RULES else []
    script["models"]["candidate"] = [*rules, {"like": "careful"}]
    (folder / "models.yaml").write_text(yaml.safe_dump(script, sort_keys=False), "utf-8")
    suite = yaml.safe_load((folder / "suite.yaml").read_text("utf-8"))
    suite["retries"] = {"attempts": 1, "max_wait_seconds": 0}
    suite["gates"] = [{"metric": "trial", "aggregation": "pass_rate", "op": "gte", "value": 1.0}]
    if what == "a broken grader":
        (folder / "checks.py").write_text(BROKEN_GRADER, "utf-8")
        suite["graders"]["has_channel"] = {"kind": "tool", "function": "checks.py:has_channel"}
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite, sort_keys=False), "utf-8")
    return folder


def page_of(run):
    return (run.folder / "summary.md").read_text("utf-8").splitlines()


@pytest.mark.parametrize(
    "models", [["scripted/candidate"], ["scripted/careful", "scripted/candidate"]], ids=SKIPPING
)
@pytest.mark.parametrize("what", CAUSES)
async def test_the_first_ten_lines_name_the_cause(tmp_path, what, models, request):
    suite = plant(tmp_path / "suite", what)
    run = await harness.run_async(suite, out=tmp_path / "runs", models=models, tags=["train"])
    page = page_of(run)
    first = "\n".join(page[:10])
    wanted = list(CAUSES[what])
    if what == "a skipped tool":
        wanted.append(SKIPPING["alone" if len(models) == 1 else "beside another"])
    assert not run.passed
    assert [word for word in wanted if word not in first] == [], first
    assert len(page) <= 45
    assert page[0].startswith("## quickstart: ")


DIVERGENCES = {
    "a skipped tool": "first differ: **candidate skips `lookup_release_train`**",
    "an invented id": "first differ: **candidate says an identifier that no tool and no user gave",
    "a wrong argument": "first differ: **candidate calls `lookup_release_train` with a made-up `s",
    "a provider outage": "samples with nothing but errors on one side, not judged",
    "a broken grader": "scripted/candidate INVALID against",
}


def regrade(folder, suite, model, *words):
    command = [sys.executable, "-m", "harness.cli", "run", suite, "--model", model, "--quiet"]
    subprocess.run(
        [*command, "--tag", "train", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("what", CAUSES)
def test_beside_a_baseline_they_name_the_cause_and_where_the_runs_part(tmp_path, what):
    plant(tmp_path / "suite", what)
    shutil.copytree(QUICKSTART, tmp_path / "good", ignore=shutil.ignore_patterns("__pycache__"))
    regrade(tmp_path, "good", "scripted/careful")
    regrade(tmp_path, "suite", "scripted/candidate", "--baseline", "latest")
    page = max(tmp_path.glob("runs/*/summary.md")).read_text("utf-8").splitlines()
    first = "\n".join(page[:10])
    assert [word for word in (*CAUSES[what][:2], DIVERGENCES[what]) if word not in first] == []
    assert "- model changed: `scripted/careful` to `scripted/candidate`" in page
    assert len(page) <= 50
