from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import NamedTuple
from uuid import UUID

import pytest
from pydantic import BaseModel

from harness.messages.plain_values import plain, take


class Colour(Enum):
    RED = "red"


class Model(BaseModel):
    a: int
    b: Colour


@dataclass
class Record:
    a: object


class Pair(NamedTuple):
    a: int
    b: int


class Bare:
    pass


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Colour.RED, "red"),
        (Model(a=1, b=Colour.RED), {"a": 1, "b": "red"}),
        (Record(a=Record(a=b"\x00")), {"a": {"a": "AA=="}}),
        (Pair(1, 2), [1, 2]),
        ({3: float("inf"), "s": {"b", "a"}}, {"3": "inf", "s": ["a", "b"]}),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00+00:00"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Bare(), "Bare"),
        (Record, "<class "),
        ("\ud800", "�"),
    ],
)
def test_any_object_has_a_plain_form(value, expected):
    found = plain(value)
    assert found == expected or (value is Record and found.startswith(expected))


def test_what_contains_itself_is_refused_in_words():
    looped = []
    looped.append(looped)
    with pytest.raises(ValueError, match="nested deeper"):
        plain(looped)


@pytest.mark.parametrize("holder", [{"a": 1}, Record(a=1)])
def test_a_part_is_taken_of_a_mapping_or_an_object(holder):
    assert (take(holder, "a"), take(holder, "missing")) == (1, None)
