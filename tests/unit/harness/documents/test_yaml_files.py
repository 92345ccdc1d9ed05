import pytest

from harness.documents.findings import Findings
from harness.documents.nodes import Location, Scalar
from harness.documents.shapes import free_value
from harness.documents.yaml_files import read_yaml


def read(text):
    findings = Findings("s.yaml")
    node = read_yaml(text if isinstance(text, bytes) else text.encode(), findings)
    return node, [str(fault) for fault in findings.faults]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a:\n\tb: 1\n", "s.yaml:2:1: a tab where YAML wants spaces; indent with spaces"),
        ("a: b\n\tc: d\n", "s.yaml:2:1: a tab where YAML wants spaces; indent with spaces"),
        ("a: |\n\tx\n", "s.yaml:2:1: a tab where YAML wants spaces; indent with spaces"),
        ("n:\n  - `x` y\n", "s.yaml:2:5: a text cannot begin with ` unless it is quoted"),
        ("a: @x\n", "s.yaml:1:4: a text cannot begin with @ unless it is quoted"),
        ("a: %x\n", "s.yaml:1:4: a text cannot begin with % unless it is quoted"),
        ("a: b: c\n", "s.yaml:1:5: a `:` where no value can follow"),
        ("a: [1\nb: 3\n", "s.yaml:2:2: a list in brackets is not closed before this"),
        ("a: {b: 1\n", "s.yaml:2:1: a mapping in braces is not closed before this"),
        ("x: 1\na: 'x\n", "s.yaml:2:4: a quoted text is not closed; close its quotes"),
        (
            'a: "\\d"\n',
            "s.yaml:1:5: a text in double quotes holds a backslash that escapes nothing",
        ),
        ("a:\n  b: 1\n c: 2\n", "s.yaml:3:2: the line fits nothing above it"),
        ("- a\nb: 1\n", "s.yaml:2:1: the line fits nothing above it"),
        ("a: 1\n---\nb: 2\n", "s.yaml:2:1: a second document begins here; a file is one document"),
        ("a: 1\n---\n", "s.yaml:2:1: a second document begins here; a file is one document"),
        (
            "a: 1\nb: 2\na: 3\n",
            's.yaml:3:1: duplicate key "a"; it is already on line 1',
        ),
        ("a: *x\n", "s.yaml:1:4: *x refers to itself, or to no anchor before it"),
        ("a: &x [*x]\n", "s.yaml:1:8: *x refers to itself, or to no anchor before it"),
        ("a: !!python/object:os.system x\n", "s.yaml:1:4: the tag !!python/object:os.system"),
        ("a: !thing {}\n", "s.yaml:1:4: the tag !thing has no meaning here"),
        ("? [a]\n: b\n", "s.yaml:1:3: a key must be a text, not a list or a mapping"),
        ("a: x\ty\x01\n", "s.yaml:1:7: the character U+0001 is not allowed in YAML; remove it"),
        ("", "s.yaml: the file is empty; write a mapping of keys and values"),
        ("# only this\n", "s.yaml: the file is empty; write a mapping of keys and values"),
        ("[" * 5000, "s.yaml:1:1001: nested too deeply; at most 100 levels"),
        ("- " * 500, "s.yaml:1:203: nested too deeply; at most 100 levels"),
        ("a: 1\n<<: 3\n", "s.yaml:2:1: `<<` takes a mapping, or a list of mappings"),
        (b"\xff\xfea\x00", "s.yaml: the file is UTF-16 or UTF-32; save the file as UTF-8"),
        (b"a\x00:\x00", "s.yaml: the file is UTF-16 or UTF-32; save the file as UTF-8"),
        (b"x: 1\nab\xe9: 1\n", "s.yaml:2:3: the byte 0xE9 is not UTF-8; save the file as UTF-8"),
    ],
)
def test_what_is_no_document_is_one_plain_line_with_its_place(text, fault):
    _, faults = read(text)
    assert len(faults) == 1
    assert faults[0].startswith(fault)


def test_every_duplicate_key_is_named():
    node, faults = read("a: 1\na: 2\nb: {c: 1, c: 2}\n")
    assert [fault.split(":")[1] for fault in faults] == ["2", "3"]
    assert free_value(node) == {"a": 1, "b": {"c": 1}}


def test_aliases_are_bounded():
    lines = ["a: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"b{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    _, faults = read("\n".join(lines))
    assert len(faults) == 1
    assert "stand for too many values" in faults[0]


def test_aliases_and_merge_keys_are_read():
    node, faults = read("d: &d {a: 1, b: 2}\ne: {<<: *d, b: 3}\nf: {<<: [{a: 0}, *d]}\ng: *d\n")
    assert not faults
    assert free_value(node) == {
        "d": {"a": 1, "b": 2},
        "e": {"b": 3, "a": 1},
        "f": {"a": 0, "b": 2},
        "g": {"a": 1, "b": 2},
    }


def test_a_byte_order_mark_and_carriage_returns_leave_no_trace():
    node, faults = read(b"\xef\xbb\xbfname: x\r\nlist:\r\n  - y\r\n")
    assert (free_value(node), faults) == ({"name": "x", "list": ["y"]}, [])


def test_keys_are_the_texts_that_were_written():
    node, _ = read("NO: 1\n010: 2\n1.10: 3\n'q': 4\n~: 5\n2031-02-03: 6\n")
    assert list(free_value(node)) == ["NO", "010", "1.10", "q", "~", "2031-02-03"]


def test_values_know_their_place_and_how_they_were_written():
    node, _ = read("a:\n  - x\n  - 1.10\n  - '1.10'\n  - !!str 7\n")
    items = list(Location(node).child("a").items())
    assert [(i.node.position.line, i.node.position.column) for i in items] == [
        (2, 5),
        (3, 5),
        (4, 5),
        (5, 5),
    ]
    assert [i.path for i in items] == ["a[0]", "a[1]", "a[2]", "a[3]"]
    assert items[1].node == Scalar(value=1.1, written="1.10", position=items[1].node.position)
    assert items[2].node.written is None
    assert items[3].node.value == "7"


def test_a_number_stays_the_text_that_was_written_where_any_value_may_stand():
    text = "{id: 010, v: 1.10, at: 12:30:00, day: 2031-02-03, c: 1e3, n: 7, f: 1.5, b: true, z: ~}"
    node, _ = read(text)
    assert free_value(node) == {
        "id": "010",
        "v": "1.10",
        "at": "12:30:00",
        "day": "2031-02-03",
        "c": "1e3",
        "n": 7,
        "f": 1.5,
        "b": True,
        "z": None,
    }
    assert free_value(node, "json")["v"] == 1.1
    assert free_value(node, "json")["id"] == "010"


def test_aliases_do_not_nest_a_document_deeper_than_it_may_be():
    lines = ["a0: &a0 []"]
    lines += [f"a{n}: &a{n} [[[[[*a{n - 1}]]]]]" for n in range(1, 300)]
    findings = Findings("f.yaml")
    assert read_yaml("\n".join(lines).encode(), findings) is None
    [fault] = findings.faults
    assert (fault.line, fault.problem) == (21, "nested too deeply")
