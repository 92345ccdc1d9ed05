"""Where results of a command may be written."""

from pathlib import Path

import pytest

from harness.running.output_places import (
    refuse_one_stream,
    refuse_overwriting,
    refuse_source,
    require_writable,
)
from harness.types.errors import InputError


@pytest.mark.parametrize(
    "name", ["manifest.json", "trials.jsonl", "outcomes.jsonl", "Summary.json"]
)
def test_a_run_keeps_its_own_names(tmp_path, name):
    refuse_overwriting(tmp_path / name)
    (tmp_path / "trials.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"there already|a run keeps this name"):
        refuse_overwriting(tmp_path / name)
    refuse_overwriting(tmp_path / "trials.csv")


@pytest.mark.parametrize("target", ["trials.jsonl", "nothing"])
def test_a_link_is_not_followed(tmp_path, target):
    (tmp_path / "trials.jsonl").write_text("", encoding="utf-8")
    (tmp_path / "out.csv").symlink_to(tmp_path / target)
    with pytest.raises(InputError, match="this is there already"):
        refuse_overwriting(tmp_path / "out.csv")


def test_what_is_read_is_not_written_into_by_a_link_either(tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "source", target_is_directory=True)
    for folder in ("source", "link"):
        with pytest.raises(InputError, match="inside the source"):
            refuse_source(tmp_path / folder / "own.jsonl", tmp_path / "source")
    refuse_source(tmp_path / "own.jsonl", tmp_path / "source")


@pytest.mark.parametrize(
    ("name", "makes_folders", "said"),
    [
        ("made", False, "this is a folder"),
        ("none/x.json", False, "there is no folder"),
        ("file/x.json", False, "is no folder"),
        ("file/x/y.json", True, "is no folder"),
    ],
)
def test_a_file_that_could_not_be_written_is_refused(tmp_path, name, makes_folders, said):
    (tmp_path / "made").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=f"{name}: cannot be written: .*{said}"):
        require_writable(tmp_path / name, makes_folders=makes_folders)


def test_a_file_that_can_be_written_is_not_and_nothing_is_made(tmp_path):
    require_writable(None, Path("-"), tmp_path / "x.json")
    require_writable(tmp_path / "none" / "deep" / "x.json", makes_folders=True)
    assert list(tmp_path.iterdir()) == []


def test_results_are_not_mixed_on_standard_output():
    refuse_one_stream({"--json": Path("-"), "--markdown": Path("x.md"), "--junit": None})
    with pytest.raises(InputError, match="--json and --junit would be mixed"):
        refuse_one_stream({"--json": Path("-"), "--markdown": None, "--junit": Path("-")})
