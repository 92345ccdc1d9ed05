"""Records written as our own trials."""

import json

import pytest
from fakes.record_files import chat, write_lines

from harness.running.converting import convert_records
from harness.running.record_mapping import read_field_map
from harness.running.record_reading import Records
from harness.types.errors import InputError


def records(path, *fields):
    return Records(path=path, fields=read_field_map(fields))


def test_a_line_a_conversation_with_its_sample_and_outcomes(tmp_path):
    source = write_lines(tmp_path / "r.jsonl", [chat(id="a", ground_truth="K41", resolved=True)])
    converted = convert_records(records(source), tmp_path / "own.jsonl")
    assert (converted.count, converted.format, converted.warnings) == (1, "openai-chat", ())
    (line,) = (tmp_path / "own.jsonl").read_text("utf-8").splitlines()
    trial = json.loads(line)
    assert (trial["passed"], trial["score"], trial["status"]) == (None, None, "completed")
    assert (trial["sample"]["id"], trial["sample"]["ground_truth"]) == ("a", "K41")
    assert list(trial["grades"]) == ["recorded.resolved"]


def test_converting_again_gives_the_same(tmp_path):
    source = write_lines(tmp_path / "r.jsonl", [chat(id="a"), chat(id="a"), chat(resolved=False)])
    convert_records(records(source), tmp_path / "one.jsonl")
    convert_records(records(tmp_path / "one.jsonl"), tmp_path / "two.jsonl")
    one, two = (
        [json.loads(line) for line in (tmp_path / name).read_text("utf-8").splitlines()]
        for name in ("one.jsonl", "two.jsonl")
    )
    for trial in (*one, *two):
        del trial["timing"]["started_at"]
    assert one == two


def test_nothing_is_written_of_records_that_cannot_be_used(tmp_path):
    good = write_lines(tmp_path / "r.jsonl", [chat(id="a")])
    (tmp_path / "bad.jsonl").write_text("{", encoding="utf-8")
    with pytest.raises(InputError):
        convert_records(records(tmp_path / "bad.jsonl"), tmp_path / "own.jsonl")
    with pytest.raises(InputError, match="cannot be written"):
        convert_records(records(good), tmp_path / "no such folder" / "own.jsonl")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.jsonl", "r.jsonl"]


def test_what_is_there_is_not_overwritten(tmp_path):
    source = write_lines(tmp_path / "r.jsonl", [chat(id="a")])
    (tmp_path / "own.jsonl").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"own\.jsonl: this is there already"):
        convert_records(records(source), tmp_path / "own.jsonl")
    assert (tmp_path / "own.jsonl").read_text("utf-8") == "mine"
    before = source.read_bytes()
    with pytest.raises(InputError, match="this is the source itself"):
        convert_records(records(source), source)
    assert source.read_bytes() == before


@pytest.mark.parametrize("name", ["own.jsonl", "deeper/own.jsonl"])
def test_nothing_is_written_into_the_folder_that_is_read(tmp_path, name):
    (tmp_path / "deeper").mkdir()
    write_lines(tmp_path / "r.jsonl", [chat(id="a")])
    with pytest.raises(InputError, match="this lies inside the source"):
        convert_records(records(tmp_path), tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deeper", "r.jsonl"]
