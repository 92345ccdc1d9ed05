"""Where results of a command may be written."""

import pytest

from harness.running.output_places import refuse_overwriting, refuse_source
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
