"""Foreign JSON, value by value, with what is lost of it."""

import json
import math

import pytest

from harness.system.json_reading import JsonReader
from harness.system.json_values import MAX_DEPTH, load_json


@pytest.mark.parametrize(
    ("text", "value", "duplicates", "surrogates"),
    [
        ('{"a": 1, "a": 2}', {"a": 2}, ["a"], 0),
        ('[{"a": 1, "b": 0, "a": 2, "a": 3}]', [{"a": 3, "b": 0}], ["a", "a"], 0),
        ('{"a": {"b": 1, "b": 1}, "c": {"b": 1}}', {"a": {"b": 1}, "c": {"b": 1}}, ["b"], 0),
        (r'{"a": "x\ud800", "\uDFFF": "\ud83d\ude00"}', {"a": "x�", "�": "😀"}, [], 2),
        (r'"\\ud800"', r"\ud800", [], 0),
        (r'{"\ud800": 1, "\ud800": 2}', {"�": 2}, ["�"], 1),
        (' {"a": "1.5e3", "n": 12}\n', {"a": "1.5e3", "n": 12}, [], 0),
    ],
)
def test_what_is_lost_of_a_value_is_told(text, value, duplicates, surrogates):
    reader = JsonReader()
    assert reader.read(text) == value
    assert (reader.losses.duplicates, reader.losses.surrogates) == (duplicates, surrogates)
    assert reader.read("{}") == {}
    assert reader.losses.duplicates == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "nope",
        "{} {}",
        "NaN",
        "[-Infinity]",
        "1e999",
        "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
        "[" * 100_000,
        "9" * 4_301,
        "9" * 5_000,
        r'"\ud8"',
    ],
)
def test_what_cannot_be_kept_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        JsonReader().read(text)


@pytest.mark.parametrize("value", [2**70, -1.5, 10**3_000, [[{"a": None}]], "é", 1e-300])
def test_what_is_read_is_what_the_wire_gives(value):
    text = json.dumps(value)
    assert JsonReader().read(text) == load_json(text) == value


def test_constants_are_read_where_a_format_writes_them():
    assert JsonReader(lambda _: None).read("[NaN, 1]") == [None, 1]
    assert JsonReader(lambda _: math.pi).read("Infinity") == math.pi
