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


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path):
    good = write_lines(tmp_path / "r.jsonl", [chat(id="a")])
    (tmp_path / "own.jsonl").write_text("mine", encoding="utf-8")
    (tmp_path / "bad.jsonl").write_text("{", encoding="utf-8")
    with pytest.raises(InputError):
        convert_records(records(tmp_path / "bad.jsonl"), tmp_path / "own.jsonl")
    assert (tmp_path / "own.jsonl").read_text("utf-8") == "mine"
    with pytest.raises(InputError, match="cannot be written"):
        convert_records(records(good), tmp_path / "no such folder" / "own.jsonl")


def test_a_source_can_be_converted_onto_itself(tmp_path):
    source = write_lines(tmp_path / "r.jsonl", [chat(id="a"), chat(id="b")])
    assert convert_records(records(source), source).count == 2
    assert json.loads(source.read_text("utf-8").splitlines()[1])["sample_id"] == "b"
