"""What to do next about a regression, where its old version cannot be had by a commit too."""

import pytest
from fakes.explained_runs import store_run

from harness.running.regression_steps import regression_step
from harness.types.comparisons import Change, ComparedRun, Comparison, Pairing
from harness.types.verdicts import SuiteVerdict

AFTER = "regrade run s.yaml --epochs 3 --out confirm/after"
CONFIRMING = (
    "git worktree add ../before abc; "
    "regrade run ../before/s.yaml --epochs 3 --out confirm/before; "
    f"{AFTER}; regrade compare confirm/before/* confirm/after/* --confirmed"
)
COMMIT = Change(what="commit", before="abc", after="def")


def compared(verdict="regressed", changes=()):
    side = ComparedRun(run_id="r-0", model="m")
    return Comparison(
        suite="s",
        baseline=side,
        candidate=side,
        pairing=Pairing(paired=1),
        verdict=SuiteVerdict(verdict=verdict, question="fixed_suite"),
        changes=changes,
    )


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Give a folder in which commands run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("suite", "changes", "has_git", "command"),
    [
        ("s.yaml", (), True, AFTER),
        ("s.yaml", (COMMIT,), False, AFTER),
        ("s.yaml", (Change(what="commit", after="def"),), True, AFTER),
        (
            "s.yaml",
            (COMMIT,),
            True,
            CONFIRMING,
        ),
        (None, (COMMIT,), True, None),
    ],
)
def test_the_commands_are_those_that_can_be_known(here, suite, changes, has_git, command):
    if has_git:
        (here / ".git").mkdir()
    file = str(here / suite) if suite else None
    folder = store_run(here / "nights" / "r", (), suite_file=file)
    step = regression_step(folder, [compared(changes=changes)])
    assert step is not None
    assert "Accept it: regrade baseline set r --out nights." in step.words
    assert step.command == command


def test_what_has_not_regressed_has_no_step(tmp_path):
    assert regression_step(tmp_path, [compared("no_worse")]) is None
    assert regression_step(tmp_path, []) is None
