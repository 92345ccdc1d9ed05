"""Files and folders of other tools."""

import json
import tracemalloc

import pytest

from harness.importers import json_files, json_pieces
from harness.importers.source_files import SourceFile, open_source
from harness.importers.source_hashes import source_sha256
from harness.types.errors import InputError
from harness.types.imports import Unreadable


@pytest.fixture
def source(tmp_path):
    def write(data, name="x.json"):
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return SourceFile(path, name)

    return write


def fault_of(source):
    with pytest.raises(InputError) as caught:
        list(source.values())
    (fault,) = caught.value.faults
    return str(fault)


@pytest.mark.parametrize(
    ("name", "text", "values"),
    [
        ("x.json", '{"a": 1}', [("x.json", {"a": 1})]),
        ("x.json", '[{"a": 1}, 2]', [("x.json", [{"a": 1}, 2])]),
        ("x.jsonl", '{"a": 1}\n\n{"a": 2}', [("x.jsonl:1", {"a": 1}), ("x.jsonl:3", {"a": 2})]),
        ("x.log", '{"a": 1}\n{"a": 2}\n', [("x.log:1", {"a": 1}), ("x.log:2", {"a": 2})]),
        ("x.json", '{\n"a": 1\n}\n{\n"a": 2}', [("x.json:1", {"a": 1}), ("x.json:4", {"a": 2})]),
        ("x.af", json.dumps(json.dumps({"a": 1})), [("x.af", {"a": 1})]),
        ("x.json", '\ufeff{"a": 1}', [("x.json", {"a": 1})]),
        ("x.jsonl", '\ufeff{"a": 1}\r\n', [("x.jsonl:1", {"a": 1})]),
        ("x.json", r'{"a": "\ud800"}', [("x.json", {"a": "\ufffd"})]),
    ],
)
def test_a_file_holds_one_value_one_a_line_or_one_after_another(source, name, text, values):
    assert list(source(text, name).values()) == values


def test_records_are_lines_items_or_the_file(source):
    assert list(source('[1, {"a": 2}]').records()) == [("x.json[0]", 1), ("x.json[1]", {"a": 2})]
    assert list(source('{"a": 2}').records()) == [("x.json", {"a": 2})]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("x.jsonl", '{"a": 1}\n{"a": \n', "x.jsonl:2: this line is no JSON"),
        ("x.json", '{"a": 1}\n{"b"', "x.json:2: this is no JSON"),
        ("x.json", '{"a":\n\n nope}', "x.json:3: this is no JSON"),
        ("x.json", b'{"a": "\xff"}', "x.json:1"),
        ("x.jsonl", b'{"a": 1}\n{"a": "\xff"}', "x.jsonl:2:8: the byte 0xFF is not UTF-8"),
        ("x.jsonl", '{"a": 1}\n'.encode("utf-16"), "x.jsonl"),
        ("x.json", '{"a": 1}'.encode("utf-16"), "UTF-16"),
        ("x.json", "[" * 5_000, "this is too much to be read: nested deeper than 200 levels"),
        ("x.json", "[[1, " + "9" * 5_000, "too much to be read: a number of more than 4300 digits"),
        (
            "x.jsonl",
            '{"a": -' + "9" * 4_301 + "}",
            "x.jsonl:1: this line is too much to be read: a number of more than 4300 digits",
        ),
        (
            "x.jsonl",
            '{"a": 1e999}',
            "x.jsonl:1: this line is too much to be read: the number 1e999",
        ),
        ("x.af", '"' + "9" * 5_000 + '"', "what it holds is too much to be read: a number of"),
        ("x.jsonl", '{"a": NaN}', "x.jsonl:1: this line is no JSON: no JSON number"),
        ("x.af", '"{"', "what it holds is no JSON"),
    ],
)
def test_a_damaged_file_is_a_fault_with_its_place(source, name, data, said):
    assert said in fault_of(source(data, name))


def test_a_line_that_is_no_json_may_be_asked_for(source):
    (_, first), (place, second) = source('{"a": 1}\nnope\n', "x.jsonl").values(lenient=True)
    assert (first, place) == ({"a": 1}, "x.jsonl:2")
    assert isinstance(second, Unreadable)
    assert second.text == "nope\n"


def test_the_head_shows_how_a_file_begins(source):
    lines = source("".join(f'{{"n": {n}}}\n' for n in range(100)), "x.jsonl").head()
    assert (len(lines.values), lines.is_lines) == (20, True)
    assert source("event: start\n", "x.txt").head().text == "event: start\n"
    assert source(b"\x89PNG\xff\x00", "x.png").head().values == ()


def test_a_name_inside_a_record_leads_nowhere_else(source, tmp_path):
    outside = tmp_path.parent / "outside.json"
    outside.write_text("{}", encoding="utf-8")
    file = source("{}")
    (tmp_path / "beside.json").write_text("{}", encoding="utf-8")
    assert file.inside("beside.json").shown == "beside.json"
    for name in ("../outside.json", str(outside), "nothing.json", "."):
        assert file.inside(name) is None
        assert open_source(tmp_path).inside(name) is None


def test_a_folder_gives_what_is_in_it_in_the_order_of_names(tmp_path):
    (tmp_path / "b").mkdir()
    for name in ("c.json", "a.json", ".hidden.json", "b/d.json"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    folder = open_source(tmp_path)
    assert [entry.path.name for entry in folder.entries()] == ["a.json", "b", "c.json"]
    assert [file.path.name for file in folder.files()] == ["a.json", "c.json"]


def test_the_hash_of_a_folder_covers_names_and_contents(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "a.json").write_text("{}", encoding="utf-8")
    first = source_sha256(open_source(tmp_path))
    assert first == source_sha256(open_source(tmp_path))
    (tmp_path / "b" / "a.json").write_text("{ }", encoding="utf-8")
    second = source_sha256(open_source(tmp_path))
    (tmp_path / "b" / "a.json").rename(tmp_path / "b" / "c.json")
    assert len({first, second, source_sha256(open_source(tmp_path))}) == 3


def test_what_is_not_there_is_one_line(tmp_path):
    with pytest.raises(InputError, match="there is no such file or folder"):
        open_source(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("name", "data", "warnings"),
    [
        (
            "x.jsonl",
            '{"a": 1}\n{"a": 1, "b": {"c": 1, "c": 2, "c": 3}}\n{"d": 0, "d": 0}\n',
            ['duplicate keys, of which the last counts: 3x, first "c" in x.jsonl:2'],
        ),
        (
            "x.json",
            r'[{"a": "\ud800"}, {"\udfff": ["\ud800"]}]',
            ["texts with lone surrogates, which became U+FFFD: 3x, first x.json[0]"],
        ),
        (
            "x.json",
            '"{\\"a\\": 1, \\"a\\": 2}"',
            ['duplicate keys, of which the last counts: 1x, first "a" in x.json'],
        ),
        (
            "x.json",
            '{"a": 1}\n{"a": 1,\n"a": 2}',
            ['duplicate keys, of which the last counts: 1x, first "a" in x.json:2'],
        ),
        ("x.jsonl", '{"a": "\ufffd"}\n', []),
    ],
)
def test_what_is_lost_of_a_file_is_counted_with_its_first_place(source, name, data, warnings):
    file = source(data, name)
    file.head()
    list(file.records())
    assert list(file.losses.warnings()) == warnings


def test_bad_bytes_of_lines_that_are_kept_as_they_are_count(source):
    file = source(b'{"a": 1}\n\xff\xfe\xef\xbf\xbd\n', "x.jsonl")
    list(file.values(lenient=True))
    assert list(file.losses.warnings()) == [
        "bytes that are not UTF-8, which became U+FFFD: 2x, first x.jsonl:2"
    ]


def test_a_list_is_a_record_where_it_holds_parts_of_one(source):
    def is_message(value):
        return isinstance(value, dict) and "role" in value

    one = source('[{"role": "user"}, 5]')
    assert list(one.records(is_message)) == [("x.json", [{"role": "user"}, 5])]
    several = source('[[{"role": "user"}], {"messages": []}]')
    assert list(several.records(is_message)) == [
        ("x.json[0]", [{"role": "user"}]),
        ("x.json[1]", {"messages": []}),
    ]
    lines = source('[{"role": "user"}]\n[1, 2]\n', "x.jsonl")
    assert list(lines.records(is_message)) == [
        ("x.jsonl:1", [{"role": "user"}]),
        ("x.jsonl:2[0]", 1),
        ("x.jsonl:2[1]", 2),
    ]


@pytest.mark.parametrize("name", ["x.json", "x.jsonl", "x.log"])
def test_a_long_list_is_read_item_by_item_whatever_the_file_is_called(source, name, monkeypatch):
    monkeypatch.setattr(json_files, "_LONG", 1_000)
    monkeypatch.setattr(json_pieces, "_CHUNK", 100)
    file = source(json.dumps([{"n": n} for n in range(500)]) + "\n", name)
    assert len(file.head().values[0]) == 20
    assert sum(value["n"] for _, value in file.records()) == sum(range(500))
    places = [place for place, _ in file.records()]
    assert places[:2] == [f"{name}[0]", f"{name}[1]"]


def test_a_long_list_takes_the_memory_of_an_item(source):
    file = source(json.dumps([{"text": "x" * 50_000}] * 400))
    tracemalloc.start()
    file.head()
    assert sum(1 for _ in file.records()) == 400
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 12_000_000
