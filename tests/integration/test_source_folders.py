"""Folders as they lie about: runs of ours in them, links, devices, and names that are not UTF-8."""

import os
import sys
from functools import partial

import pytest
from fakes import ran_commands
from fakes.record_files import SUITE, chat, write_lines

from harness.importers.source_files import open_source
from harness.importers.source_hashes import source_sha256


@pytest.fixture
def folder(tmp_path, monkeypatch):
    source = tmp_path / "source"
    source.mkdir()
    write_lines(source / "r.jsonl", [chat(id="a"), chat(id="b")])
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    monkeypatch.chdir(source)
    return source


@pytest.fixture
def regrade(folder):
    return partial(ran_commands.regrade, folder)


def grade(regrade, source="."):
    code, out, err = regrade("grade", source, "--suite", "../suite.yaml", "--quiet")
    assert code == 0, err
    return out + err


def test_a_run_made_in_the_folder_that_it_graded_is_no_record_of_it(folder, regrade):
    before = source_sha256(open_source(folder))
    assert "foreign: 2 trials" in grade(regrade)
    again = grade(regrade)
    assert "foreign: 2 trials" in again
    assert "(a run that graded this source)" in " ".join(again.split())
    assert source_sha256(open_source(folder)) == before


def test_of_runs_only_the_trials_are_records(folder, regrade):
    grade(regrade)
    grade(regrade)
    assert regrade("export", "latest", "--to", "openai-chat")[0] == 0
    code, out, _ = regrade("convert", "runs", "--out", "own.jsonl")
    assert (code, out) == (0, "wrote 4 trials (regrade) to own.jsonl\n")


def test_links_pipes_and_unfinished_files_are_left_out_and_named(folder, regrade):
    (folder / "link.jsonl").symlink_to("r.jsonl")
    (folder / "own.jsonl.12.part").write_text("{", encoding="utf-8")
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe")
    code, out, err = regrade("convert", ".", "--out", "../own.jsonl")
    assert (code, out.split()[1]) == (0, "2")
    assert "./link.jsonl (a link)" in err
    assert "./own.jsonl.12.part (an unfinished file of Regrade)" in err
    assert not hasattr(os, "mkfifo") or "./pipe (no file)" in err


def test_names_that_are_not_utf_8_are_read_and_shown(folder, regrade):
    name = os.fsdecode(b"\xff\xfe.jsonl") if sys.platform == "linux" else "\u00ff.jsonl"
    (folder / "r.jsonl").rename(folder / name)
    assert "foreign: 2 trials" in grade(regrade)
    assert "foreign: 2 trials" in grade(regrade, name)
    assert regrade("convert", name, "--out", f"own{name}")[0] == 0
    (folder / f"{name}.txt").write_text("a note", encoding="utf-8")
    code, _, err = regrade("convert", f"{name}.txt", "--out", "other.jsonl")
    assert (code, err.count("\n")) == (2, 1)
