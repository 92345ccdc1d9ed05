"""Which importer reads what: told by its shape, or named."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from fakes.record_files import chat, write_lines

from harness.importers.catalogue import IMPORTERS
from harness.importers.format_finding import find_format, read_source, read_with_formats
from harness.importers.source_files import open_source
from harness.types.errors import InputError
from harness.types.imports import Imported
from harness.types.trajectories import Trajectory


@dataclass(frozen=True)
class Logs:
    """A format whose files begin with LOG, and whose folders hold a file `log.txt`."""

    specification = "logs"

    def claims(self, head):
        return head.text.startswith("LOG") or "log.txt" in head.files

    def read(self, source):
        inner = source.inside("log.txt") or source
        if "broken" in inner.text():
            raise ValueError("it is broken: in two")
        yield Imported(place=inner.shown, trajectory=Trajectory())


KNOWN = {"logs": Logs, "openai-chat": IMPORTERS["openai-chat"]}


def read(path, named=None):
    left_out = []
    found = read_with_formats(open_source(path), KNOWN, named, left_out.append)
    shown = [(name, record.place.replace(path.as_posix(), ".")) for name, record in found]
    return shown, [file.replace(path.as_posix(), ".") for file in left_out]


def fault(path, named=None):
    with pytest.raises(InputError) as caught:
        list(read_source(open_source(path), KNOWN, named))
    (found,) = caught.value.faults
    return str(found).replace(path.as_posix(), ".")


def test_every_file_of_a_folder_is_read_by_the_format_that_claims_it(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.txt").write_text("LOG", encoding="utf-8")
    write_lines(tmp_path / "b.jsonl", [chat(), chat()])
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\xff")
    found, left_out = read(tmp_path)
    assert found == [
        ("logs", "./a/one.txt"),
        ("openai-chat", "./b.jsonl:1"),
        ("openai-chat", "./b.jsonl:2"),
    ]
    assert left_out == ["./picture.png"]


def test_a_folder_that_is_one_record_is_read_as_a_whole(tmp_path):
    (tmp_path / "log.txt").write_text("LOG", encoding="utf-8")
    (tmp_path / "beside.txt").write_text("LOG", encoding="utf-8")
    assert read(tmp_path) == ([("logs", "./log.txt")], [])
    assert read(tmp_path, "logs") == ([("logs", "./log.txt")], [])


def test_a_named_format_leaves_the_other_files_of_a_folder_and_says_so(tmp_path):
    (tmp_path / "a.json").write_text('{"predictions": []}', encoding="utf-8")
    write_lines(tmp_path / "b.jsonl", [chat()])
    (tmp_path / "c.txt").write_text("LOG", encoding="utf-8")
    found, left_out = read(tmp_path, "openai-chat")
    assert found == [("openai-chat", "./b.jsonl:1")]
    assert left_out == ["./a.json (not openai-chat)", "./c.txt"]


def test_a_file_of_no_known_format_is_a_fault_and_left_out_beside_others(tmp_path):
    (tmp_path / "a.json").write_text('{"predictions": []}', encoding="utf-8")
    expected = (
        "./a.json: no format is known that looks like this; "
        "name one with --format: logs, openai-chat"
    )
    assert fault(tmp_path) == expected
    assert fault(tmp_path / "a.json").endswith(expected.partition(": ")[2])
    write_lines(tmp_path / "b.jsonl", [chat()])
    found, left_out = read(tmp_path)
    assert found == [("openai-chat", "./b.jsonl:1")]
    assert left_out == ["./a.json (of no format that is known)"]


def test_a_folder_of_which_nothing_is_of_the_named_format_is_a_fault(tmp_path):
    write_lines(tmp_path / "b.jsonl", [chat()])
    said = "./b.jsonl: nothing in it is understood as logs; it looks like openai-chat"
    assert fault(tmp_path, "logs") == said


@pytest.mark.parametrize(
    ("name", "data"),
    [("a.json", ""), ("a.jsonl", "\n \n"), ("a.json", "[]"), ("a.txt", ""), ("a.json", "\ufeff")],
)
@pytest.mark.parametrize("named", [None, "openai-chat"])
def test_a_file_without_records_is_told_to_hold_none(name, data, named, tmp_path):
    (tmp_path / name).write_text(data, encoding="utf-8")
    assert fault(tmp_path / name, named) == ".: it holds no record"
    write_lines(tmp_path / "b.jsonl", [chat()])
    assert read(tmp_path, named)[1] == [f"./{name} (empty)"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (json.dumps(chat()).encode("utf-16"), "UTF-16"),
        (b'{"messages": \xff}', "UTF-8"),
        (b'{"messages": [', "no JSON"),
        (b'"{not json"', "what it holds is no JSON"),
    ],
)
def test_a_damaged_file_is_one_line(tmp_path, data, said):
    (tmp_path / "a.json").write_bytes(data)
    assert said in fault(tmp_path / "a.json")


def test_a_format_that_is_not_known_is_told_the_close_one(tmp_path):
    write_lines(tmp_path / "b.jsonl", [chat()])
    assert fault(tmp_path / "b.jsonl", "openai_chat") == (
        '--format: there is no format "openai_chat"; did you mean "openai-chat"?'
    )


def test_what_an_importer_cannot_read_has_a_place(tmp_path):
    (tmp_path / "a.txt").write_text("LOG broken", encoding="utf-8")
    assert fault(tmp_path / "a.txt") == ".: it is broken: in two"


def test_a_link_to_a_folder_is_not_followed(tmp_path):
    write_lines(tmp_path / "b.jsonl", [chat()])
    (tmp_path / "self").symlink_to(tmp_path, target_is_directory=True)
    assert len(read(tmp_path)[0]) == 1


def test_no_format_claims_what_it_cannot_know(tmp_path):
    (tmp_path / "x.json").write_text("[]", encoding="utf-8")
    assert find_format(open_source(tmp_path / "x.json"), IMPORTERS) is None


@pytest.mark.parametrize("name", ["torn.json", "torn.af", "torn.traj"])
def test_a_damaged_file_in_a_folder_is_a_fault_and_not_left_out(name, tmp_path):
    (tmp_path / name).write_text('{"messages": [', encoding="utf-8")
    with pytest.raises(InputError, match="this is no JSON"):
        list(read_source(open_source(tmp_path), IMPORTERS))
    with pytest.raises(InputError, match="this is no JSON"):
        list(read_source(open_source(tmp_path / name), IMPORTERS))


@pytest.mark.parametrize("name", IMPORTERS)
def test_a_format_that_understands_nothing_is_a_fault_and_no_empty_conversation(name, tmp_path):
    path = tmp_path / "x.jsonl"
    strange = [
        {"messages": [{"kind": "alien", "body": 1}]},
        {"history": [{"kind": "alien"}], "trajectory": []},
        {"messages": [{"role": "alien", "content": []}, {"role": "user", "content": "Hi"}]},
        {"contents": [{"x": 1}], "input": [{"x": 1}], "items": []},
    ]
    for record in strange:
        write_lines(path, [record])
        if find_format(open_source(path), {name: IMPORTERS[name]}):
            continue
        with pytest.raises(InputError) as caught:
            list(read_source(open_source(path), IMPORTERS, name))
        (found,) = caught.value.faults
        assert found.file.startswith(path.as_posix())


@pytest.mark.parametrize("name", ["anthropic", "pydantic-ai", "openai-responses"])
def test_a_wrong_format_is_told_with_the_place_and_what_the_record_looks_like(name, tmp_path):
    path = tmp_path / "x.jsonl"
    write_lines(path, [{"messages": chat()["messages"][:3]}])
    with pytest.raises(InputError) as caught:
        list(read_source(open_source(path), IMPORTERS, name))
    assert str(caught.value) == (
        f"{path.as_posix()}:1: nothing in it is understood as {name}; it looks like openai-chat"
    )


def test_a_source_of_the_named_shape_of_which_nothing_is_understood_is_a_fault(tmp_path):
    path = write_lines(tmp_path / "x.jsonl", [{"messages": [{"role": "user", "content": 5}]}] * 2)
    assert "x.jsonl:1: nothing in it is understood" in str(_caught(path))
    write_lines(path, [{"messages": [{"role": "user", "content": 5}]}, chat()])
    assert len(list(read_source(open_source(path), IMPORTERS))) == 2
    write_lines(path, [{"id": "a", "messages": []}])
    assert len(list(read_source(open_source(path), IMPORTERS))) == 1


def _caught(path):
    with pytest.raises(InputError) as caught:
        list(read_source(open_source(path), IMPORTERS))
    return caught.value


def test_a_pipe_is_told_in_one_line(tmp_path):
    with pytest.raises(InputError, match="this is a pipe or a device"):
        open_source(Path(os.devnull))
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(InputError, match="pipe: this is a pipe or a device"):
            open_source(tmp_path / "pipe")
