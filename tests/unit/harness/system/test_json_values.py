import math
from enum import StrEnum
from types import MappingProxyType

import msgspec
import pytest

from harness.system.json_values import (
    MAX_DEPTH,
    clean_json,
    compact_json,
    load_json,
    read_json,
    scrub_json,
)


class Color(StrEnum):
    RED = "red"


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "clean"),
    [
        ((1, "a", None), [1, "a", None]),
        (MappingProxyType({1: True}), {"1": True}),
        ({"\ud800": "\udfff"}, {"\ufffd": "\ufffd"}),
        (Color.RED, "red"),
        (10**30, 10**30),
        (-0.0, -0.0),
    ],
)
def test_values_become_plain_json(value, clean):
    found = clean_json(value)
    assert found == clean
    assert type(found) is type(clean)
    msgspec.json.encode(found)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), object(), b"x", {1}, [10**5000], nested(MAX_DEPTH + 1)]
)
def test_what_json_cannot_hold_is_refused(value):
    with pytest.raises(ValueError, match=r"no JSON|nested deeper|more than 4300 digits"):
        clean_json({"in": [value]})


def test_what_is_nested_as_deep_as_is_allowed_can_be_written():
    msgspec.json.encode(clean_json(nested(MAX_DEPTH - 1)))


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'"\\ud800"', "\ufffd"),
        (b'"\xff"', "\ufffd"),
        ('"\ud800"', "\ufffd"),
        (b'"\\ud83d\\ude00\\u0000"', "\U0001f600\x00"),
    ],
)
def test_json_from_the_wire_is_read_whatever_its_characters(data, value):
    assert load_json(data) == value


@pytest.mark.parametrize("data", [b"", b"{", b"[NaN]", b"1e999", b"[" * 5000, b"<html>"])
def test_what_is_no_json_is_refused(data):
    with pytest.raises(ValueError, match=r".+"):
        load_json(data)
    with pytest.raises(ValueError, match=r".+"):
        read_json(data.decode())


def test_surrogates_are_replaced_in_every_place_of_a_value():
    assert scrub_json({"\ud800": ["\udc00", {"k": 1}]}) == {"\ufffd": ["\ufffd", {"k": 1}]}


def test_compact_json_has_no_spaces_and_keeps_letters():
    assert compact_json({"a": [1, "é"], "b": None}) == '{"a":[1,"é"],"b":null}'


@pytest.mark.parametrize("value", [math.nan, [math.inf], {"k": -math.inf}, object()])
def test_what_json_cannot_hold_is_not_written(value):
    with pytest.raises(ValueError, match="no JSON"):
        compact_json(value)
