import json
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign, read_one, rows, said

from harness.importers import inspect_logs
from harness.importers.catalogue import IMPORTERS
from harness.importers.format_finding import read_source
from harness.importers.source_files import SourceFile
from harness.types.errors import InputError
from harness.types.events import ToolResult
from harness.types.trajectories import Usage

FILES = FOREIGN / "inspect"
HEADER = {"version": 2, "status": "success", "eval": {"model": "m", "task": "t"}}


def archive(path, entries):
    with ZipFile(path, "w", ZIP_DEFLATED) as file:
        for name, value in entries.items():
            text = value if isinstance(value, str) else json.dumps(value)
            file.writestr(name, text)
    return path


def log(path, *samples, **fields):
    path.write_text(json.dumps({**HEADER, "samples": list(samples), **fields}), encoding="utf-8")
    return path


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_files_of_the_format_are_told_by_their_shape(path):
    assert find_foreign(path) == "inspect"


def test_a_sample_is_a_conversation():
    record = read_foreign(FILES / "log.json")[0]
    assert rows(record) == [
        ("system", "system", "Be brief."),
        ("user", "Where is parcel P-7?"),
        ("reasoning", "Look it up."),
        ("assistant", "One moment."),
        ("call", "w1", "search", {"q": "P-7"}),
        ("result", "w1", "search", "nothing"),
        ("call", "c1", "find", {"id": "P-7"}),
        ("call", "c2", "read", {}),
        ("result", "c1", "find", "Ulm"),
        ("failed", "c2", "read", "not allowed"),
        ("system", "hidden_reasoning", ""),
        ("reasoning", "now"),
        ("assistant", "In Ulm."),
        ("system", "image", ""),
        ("user", "Thank you very much."),
    ]
    assert (record.sample_id, record.model, record.epoch) == ("p-7", "maker/one", 1)
    assert (record.ground_truth, record.prompts) == ("Ulm", ("Where is parcel P-7?",))


def test_scores_are_outcomes_and_the_store_is_a_snapshot():
    record = read_foreign(FILES / "log.json")[0]
    assert record.outcomes == {
        "match": 1.0,
        "tone.kind": 0.5,
        "tone.short": True,
        "grade": 0.0,
        "words": "fair",
        "list": "[1,0]",
    }
    assert record.snapshots == {"store": {"seen": ["P-7"]}}
    assert record.seconds == 2.5


def test_replies_have_the_numbers_of_their_calls_and_judges_are_not_counted():
    record = read_foreign(FILES / "log.json")[0]
    first, second = record.trajectory.turns[0].steps
    assert (first.usage, first.stop_reason) == (
        Usage(input_tokens=30, output_tokens=5),
        "tool_calls",
    )
    assert (first.model, first.seconds, second.usage) == ("one-2", 0.7, Usage())
    assert record.usage == Usage(input_tokens=40, output_tokens=9)


def test_what_failed_and_why_is_kept_with_the_result():
    events = read_foreign(FILES / "log.json")[0].trajectory.events()
    *_, failed = (e for e in events if isinstance(e, ToolResult))
    error = {"type": "permission", "message": "not allowed"}
    assert failed.structured == {"content": None, "error": error}


def test_how_a_sample_ended_is_the_status_of_its_trial():
    _, broken, limited, invalid = read_foreign(FILES / "log.json")
    assert (broken.status, broken.failure.message) == ("target_error", "ConnectError: gone")
    assert (limited.status, limited.failure.code) == ("agent_failure", "max_steps")
    assert "wrong key" in invalid.skipped
    assert (said(invalid), invalid.outcomes) == (["Oslo."], {"score": 1})


def test_several_targets_are_no_ground_truth_and_a_strange_role_is_kept():
    broken = read_foreign(FILES / "log.json")[1]
    assert (broken.ground_truth, broken.prompts) == (None, ("Where is P-8?",))
    assert broken.unread == {"oracle_role": 1}


def test_a_log_without_samples_holds_no_conversation():
    assert read_foreign(FILES / "empty.json") == []


def test_an_archive_is_read_sample_by_sample():
    whole = read_foreign(FILES / "log.json")
    records = read_foreign(FILES / "log.eval")
    assert [rows(record) for record in records] == [rows(record) for record in whole[:2]]
    assert records[0].place.endswith("log.eval:samples/p-7_epoch_2.json")


def test_an_archive_packed_by_zstandard_is_read_as_any_other():
    packed = [rows(record) for record in read_foreign(FILES / "zstandard.eval")]
    assert packed == [rows(record) for record in read_foreign(FILES / "log.eval")]


def test_an_interrupted_run_is_read_without_its_header():
    record = read_one(FILES / "interrupted.eval")
    assert (said(record), record.model) == (["Hello there."], "maker/one")
    assert (record.outcomes, record.usage) == (
        {"match": 0.5},
        Usage(input_tokens=3, output_tokens=1),
    )


def test_a_score_that_is_no_number_is_none():
    assert read_one(FILES / "unscored.json").outcomes == {}


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ({}, "the archive has no header.json"),
        ({"header.json": "{"}, "header.json: this is no JSON"),
        ({"header.json": []}, "this is no log of Inspect"),
        ({"header.json": {**HEADER, "version": 3}}, "the log is of version 3"),
        ({"header.json": HEADER, "samples/1_epoch_1.json": []}, "a sample must be an object"),
        ({"samples/1_epoch_1/sample.json": {}}, "its samples are in pieces"),
    ],
)
def test_what_is_no_archive_of_inspect_is_a_fault(entries, problem, tmp_path):
    path = archive(tmp_path / "log.eval", entries)
    with pytest.raises(InputError) as caught:
        read_foreign(path, "inspect")
    assert path.as_posix() in str(caught.value)
    assert problem in str(caught.value)


@pytest.mark.parametrize("name", ["log.eval", "zstandard.eval"])
@pytest.mark.parametrize("cut", [10, 200, -30])
def test_a_damaged_archive_is_a_fault(name, cut, tmp_path):
    path = tmp_path / "log.eval"
    path.write_bytes((FILES / name).read_bytes()[:cut])
    with pytest.raises(InputError, match="this archive cannot be read"):
        read_foreign(path, "inspect")


@pytest.mark.parametrize("name", ["log.eval", "zstandard.eval"])
def test_an_archive_that_was_changed_is_a_fault(name, tmp_path):
    data = bytearray((FILES / name).read_bytes())
    at = data.index(b"samples/p-7_epoch_2.json") + 40
    data[at : at + 20] = bytes(20)
    path = tmp_path / "log.eval"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"log\.eval"):
        read_foreign(path, "inspect")


def test_an_entry_that_unpacks_to_more_than_there_can_be_is_a_fault(tmp_path, monkeypatch):
    monkeypatch.setattr(inspect_logs, "_MOST_BYTES", 1000)
    entries = {"header.json": HEADER, "samples/1_epoch_1.json": " " * 5000}
    path = archive(tmp_path / "log.eval", entries)
    with pytest.raises(InputError, match="the entry is larger than 1,000 bytes"):
        read_foreign(path)


def test_attachments_cannot_grow_without_bound(tmp_path):
    text = "x" * 1_000_000
    message = {"role": "user", "content": "attachment://a"}
    sample = {"id": 1, "messages": [message] * 300, "attachments": {"a": text}}
    with pytest.raises(InputError, match="its attachments hold too much text"):
        read_foreign(log(tmp_path / "log.json", sample))


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"messages": 7}, "messages must be a list, got a number"),
        ({"messages": [7]}, "messages[0]: a message must be an object"),
        ({"messages": [{"role": "user", "content": 7}]}, "messages[0]: content must be a text"),
        ({"messages": [{"role": "assistant", "tool_calls": 7}]}, "tool_calls must be a list"),
        ({"messages": [{"role": "assistant", "tool_calls": [7]}]}, "a tool call must be an object"),
        (7, "a sample must be an object"),
    ],
)
def test_a_sample_that_is_none_is_a_fault_with_its_place(value, problem, tmp_path):
    path = log(tmp_path / "log.json", value)
    with pytest.raises(InputError) as caught:
        read_foreign(path)
    assert f"{path.as_posix()}.samples[0]: " in str(caught.value)
    assert problem in str(caught.value)


def test_samples_that_are_no_list_are_a_fault(tmp_path):
    path = log(tmp_path / "log.json", samples=7)
    with pytest.raises(InputError, match="samples must be a list, got a number"):
        read_foreign(path)


def test_bytes_and_keys_that_an_archive_cannot_hold_are_counted(tmp_path):
    path = tmp_path / "x.eval"
    sample = b'{"id": "a", "id": "b", "messages": [{"role": "user", "content": "\xff\xfe"}]}'
    with ZipFile(path, "w") as file:
        file.writestr("header.json", json.dumps({"version": 2, "status": "success", "eval": {}}))
        file.writestr("samples/a_epoch_1.json", sample)
    source = SourceFile(path, "x.eval")
    (record,) = read_source(source, IMPORTERS)
    assert rows(record) == [("user", "\ufffd\ufffd")]
    assert list(source.losses.warnings()) == [
        "bytes that are not UTF-8, which became U+FFFD: 2x, first x.eval:samples/a_epoch_1.json",
        'duplicate keys, of which the last counts: 1x, first "id" in x.eval:samples/a_epoch_1.json',
    ]
