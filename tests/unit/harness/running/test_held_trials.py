"""A run whose log does not hold what its summary counts is not taken for a whole one."""

import pytest
from fakes.ran_commands import regrade
from fakes.suites import fake_suite

import harness
from harness.running.held_trials import held_summary


@pytest.fixture
def run(tmp_path):
    """Give the directory of a run of four trials that passed."""
    suite = fake_suite(lambda context, text: "ok", samples=4)
    return harness.run(suite, out=tmp_path / "runs").folder


def cut(text):
    return b"".join(text.splitlines(keepends=True)[:3])


DAMAGES = {
    "cut": (cut, "holds 3 of the 4 trials that summary.json counts"),
    "emptied": (lambda text: b"", "holds 0 of the 4 trials"),
    "no log": (lambda text: b"garbage\n" * 4, "its trials.jsonl cannot be read"),
    "changed": (
        lambda text: text.replace(b'"passed":true', b'"passed":false'),
        "holds 0 trials that passed, summary.json counts 4",
    ),
}


def test_a_whole_run_is_as_its_summary_says(run):
    assert held_summary(run).passed


@pytest.mark.parametrize(("damage", "said"), DAMAGES.values(), ids=DAMAGES)
def test_a_log_that_does_not_hold_what_the_summary_counts_is_told_of(run, damage, said):
    log = run / "trials.jsonl"
    log.write_bytes(damage(log.read_bytes()))
    summary = held_summary(run)
    assert (summary.complete, summary.passed) == (False, False)
    assert said in summary.reasons[0]


@pytest.mark.parametrize("command", [["explain"], ["report", "--markdown", "-"]])
def test_the_first_line_of_an_explanation_says_it(run, command):
    log = run / "trials.jsonl"
    log.write_bytes(cut(log.read_bytes()))
    code, said, _ = regrade(run.parent.parent, command[0], run, *command[1:])
    assert (code, "holds 3 of the 4 trials" in said.splitlines()[0]) == (0, True), said


@pytest.mark.parametrize("command", [["set"], ["export", "--out", "b.zip"]])
def test_such_a_run_is_no_baseline(run, command):
    log = run / "trials.jsonl"
    log.write_bytes(cut(log.read_bytes()))
    code, _, said = regrade(run.parent.parent, "baseline", command[0], run, *command[1:])
    assert (code, said.count("\n"), "holds 3 of the 4 trials" in said) == (2, 1, True), said
    assert not (run.parent.parent / "b.zip").exists()
    assert not harness.load_run(run).passed
