"""Mistakes in the words of a command: one line each, before anything is done."""

import pytest
from fakes.ran_commands import regrade
from fakes.suites import fake_suite

import harness


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give a folder with one run in it."""
    folder = tmp_path_factory.mktemp("usage")
    harness.run(fake_suite(lambda context, text: "ok"), out=folder / "runs")
    (folder / "note.md").write_text("# No suite\n", encoding="utf-8")
    return folder


MISTAKES = {
    "no argument": (["compare"], "regrade compare: Missing argument 'BASELINE'"),
    "no such command": (["foo"], "regrade: No such command 'foo'"),
    "no such option": (["run", "--zz"], "regrade run: No such option '--zz'"),
    "no number": (["run", "s", "--epochs", "x"], "'x' is not a valid integer"),
    "a choice": (["export", "latest"], "Choose from: csv, parquet, openai-chat;"),
    "options apart": (["history", "--reason", "x"], "--reason is for --quarantine"),
    "a group": (["baseline", "zz"], "regrade baseline: No such command 'zz'"),
    "no suite": (["run"], "regrade run: name a SUITE"),
    "compare to nowhere": (
        ["compare", "latest", "latest", "--json", "none/x"],
        "none/x: cannot be written: there is no folder none",
    ),
    "history to nowhere": (["history", "--json", "none/x"], "none/x: cannot be written"),
    "export to nowhere": (
        ["export", "latest", "--to", "csv", "--out", "none/x"],
        "none/x: cannot be written",
    ),
    "baseline to nowhere": (
        ["baseline", "export", "latest", "--out", "none/x"],
        "none/x: cannot be written",
    ),
    "a report into a file": (
        ["report", "latest", "--junit", "note.md/x"],
        "note.md/x: cannot be written: note.md is no folder",
    ),
    "a run to nowhere": (["run", "s", "--junit", "note.md/x"], "note.md is no folder"),
    "two documents": (
        ["report", "latest", "--junit", "-", "--markdown", "-"],
        "standard output: --junit and --markdown would be mixed",
    ),
    "a document among annotations": (
        ["report", "latest", "--junit", "-", "--github"],
        "standard output: --junit and --github would be mixed",
    ),
    "two forms": (
        ["compare", "latest", "latest", "--json", "-", "--markdown", "-"],
        "standard output: --json and --markdown would be mixed",
    ),
    "no suite in the file": (
        ["compare", "latest::m", "latest::m", "--suite", "note.md"],
        "note.md",
    ),
}


@pytest.mark.parametrize(("words", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_line_and_nothing_is_done(folder, words, said):
    code, shown, wrong = regrade(folder, *words)
    assert (code, shown, wrong.count("\n")) == (2, "", 1), wrong
    assert said in wrong
    assert not (folder / "none").exists()


def test_a_group_of_commands_shows_its_help(folder):
    code, shown, wrong = regrade(folder, "baseline")
    assert code == 2
    assert "Usage: regrade baseline" in shown + wrong
