import pytest

from harness.serving.script_nodes import plain_value, read_document


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("-3", -3),
        ("0.5", 0.5),
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("NO", "NO"),
        ("on", "on"),
        ("True", "True"),
        ("010", "010"),
        ("1_000", "1_000"),
        ("12:30:00", "12:30:00"),
        ("2024-01-01", "2024-01-01"),
        ("1.10.2", "1.10.2"),
        ("1e3", "1e3"),
        (".inf", ".inf"),
        ("9" * 30, "9" * 30),
    ],
)
def test_a_plain_scalar_is_what_json_calls_it_and_text_otherwise(text, value):
    assert plain_value(text) == value
    assert type(plain_value(text)) is type(value)


def test_a_quoted_scalar_is_always_text():
    assert read_document("['12', \"true\", 'null']", "f").value == ["12", "true", "null"]


def test_every_value_knows_its_place():
    document = read_document("a: 1\nb:\n  - c: 2\n    d: 3\n", "f")
    assert document.value == {"a": 1, "b": [{"c": 2, "d": 3}]}
    assert document.place(("b", 0, "d")) == (4, 5)
    assert document.place(("b", 0, "d", "not there")) == (4, 5)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: 1\na: 2", "f:2:1: a: a duplicate key; first on line 1"),
        ("a: {b: 1, b: 2}", "f:1:11: a.b: a duplicate key; first on line 1"),
        ("a: &x 1\nb: *x", "f:1:4: b: an alias; write the value out"),
        ("&a [*a]", "f:1:1: 0: an alias; write the value out"),
        ("a: !!int 3", "f:1:4: a: the tag tag:yaml.org,2002:int; quote a value to make it text"),
        ("? [x]\n: 1", "f:1:3: a key that is no text; keys are texts"),
        ("\ta: 1", "f:1:1: while scanning for the next token, found character '\\t' that"),
        ("a: [", "f:1:5: while parsing a flow node, expected the node content"),
        ("a: `b`", "f:1:4: while scanning for the next token, found character '`'"),
        ("a: 1\n---\nb: 2", "f:2:1: expected a single document"),
        ("a: 1\nb: x\0", "f:2:5: the character U+0000 cannot stand in YAML"),
        ("[" * 5_000, "f: nested too deeply"),
    ],
)
def test_what_is_wrong_with_the_yaml_has_its_place(text, fault):
    faults = [str(found) for found in read_document(text, "f").faults]
    assert faults[0].startswith(fault)
    assert len(faults) == 1


def test_aliases_of_aliases_do_not_grow():
    lines = ["a0: &a0 [x, x]", *(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 40))]
    assert len(read_document("\n".join(lines), "f").faults) == 78
