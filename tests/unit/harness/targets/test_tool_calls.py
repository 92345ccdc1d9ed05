import dataclasses
import sqlite3
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from pathlib import PurePosixPath

import msgspec
import pydantic
import pytest

from harness.messages.outputs import Output
from harness.targets.tool_calls import failed_output, output_of


@dataclasses.dataclass
class Point:
    x: int
    inner: object = None


class Train(msgspec.Struct):
    name: str


class Order(pydantic.BaseModel):
    at: Point


class Color(Enum):
    RED = "red"


class Broken:
    def __repr__(self):
        raise RuntimeError


def row():
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    found = connection.execute("select 1 as a, 'x' as b").fetchone()
    connection.close()
    return found


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, "é"], "b": None}, '{"a":[1,"é"],"b":null}'),
        ([], "[]"),
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        ((1, 2), "[1,2]"),
        (Point(1), '{"x":1,"inner":null}'),
        (Point(1, Train("ic")), '{"x":1,"inner":{"name":"ic"}}'),
        ([Train("ic")], '[{"name":"ic"}]'),
        (Order(at=Point(2)), '{"at":{"x":2,"inner":null}}'),
        (Color.RED, '"red"'),
        (Decimal("1.10"), '"1.10"'),
        (datetime(2024, 5, 6, tzinfo=UTC), '"2024-05-06T00:00:00Z"'),
        (PurePosixPath("a/b"), '"a/b"'),
        (b"bytes", '"bytes"'),
        ({1: "one"}, '{"1":"one"}'),
    ],
)
def test_values_become_compact_json_and_stay_beside_it(value, text):
    found = output_of(value)
    assert found.text == text
    assert found.ok
    assert found.structured == msgspec.json.decode(text)


def test_rows_of_a_database_are_mappings():
    assert output_of([row()]).text == '[{"a":1,"b":"x"}]'


@pytest.mark.parametrize("text", ["", "plain", '{"a": 1}', "a\x00b", "a\nb"])
def test_a_text_is_kept_as_it_is(text):
    assert output_of(text) == Output(text)


def test_lone_surrogates_of_a_text_are_replaced():
    assert output_of("a\ud800") == Output("a\ufffd")


@pytest.mark.parametrize(
    "value", [object(), float("nan"), {"a": float("inf")}, b"\xff", lambda: 1, iter, Broken()]
)
def test_what_has_no_json_form_is_a_failed_result_that_says_so(value):
    found = output_of(value)
    assert not found.ok
    assert found.text.startswith(f"TypeError: the tool returned a {type(value).__name__}")


def test_a_value_that_holds_itself_is_a_failed_result():
    value = []
    value.append(value)
    assert not output_of(value).ok


def test_a_failure_is_one_line():
    assert failed_output("LookupError: a\nb") == Output("LookupError: a\\nb", ok=False)
