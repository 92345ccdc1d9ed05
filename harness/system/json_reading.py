"""Foreign JSON read value by value: text comes in, values and what was lost of them go out."""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from json import JSONDecodeError, JSONDecoder
from typing import Any

from harness.system.json_values import (
    MAX_DEPTH,
    TOO_DEEP,
    JsonLimitError,
    clean_json,
    read_integer,
    refuse_constant,
)
from harness.system.texts import cut, scrub

_SHOWN_DIGITS = 60
_SPACE = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile(r"\\u[dD]")  # or one of another kind; it is looked at


@dataclass(slots=True)
class JsonLosses:
    """What was lost of a value: its duplicate keys, each time, and texts with lone surrogates."""

    duplicates: list[str] = field(default_factory=list)
    surrogates: int = 0


class JsonReader:
    """Reads values one after another; `losses` are those of the latest.

    The last of duplicate keys counts, and lone surrogates become U+FFFD. Looking for both while
    the value is put together takes no longer than copying it into plain types would. `constant`
    reads `NaN` and the infinities, which are refused otherwise.
    """

    def __init__(self, constant: Callable[[str], Any] = refuse_constant) -> None:
        self.losses = JsonLosses()
        self._decoder = JSONDecoder(
            object_pairs_hook=self._collect,
            parse_constant=constant,
            parse_float=_read_float,
            parse_int=read_integer,
        )

    def read(self, text: str) -> Any:
        """Return the value of a whole text.

        Raises:
            ValueError: the text is no JSON, or its value cannot be kept.
        """
        at = skip_space(text, 0)
        value, end = self.read_at(text, at)
        if skip_space(text, end) < len(text):
            raise JSONDecodeError("Extra data", text, end)
        return value

    def read_at(self, text: str, at: int) -> tuple[Any, int]:
        """Return the value that begins at a place, and where it ends.

        Raises:
            ValueError: there is no JSON, or its value cannot be kept.
        """
        self.losses = JsonLosses()
        try:
            value, end = self._decoder.raw_decode(text, at)
        except RecursionError:
            raise JsonLimitError(TOO_DEEP) from None
        if _SURROGATE.search(text, at, end):
            return self._scrubbed(value), end
        opened = text.count("{", at, end) + text.count("[", at, end)
        if opened > MAX_DEPTH and _is_too_deep(value):
            raise JsonLimitError(TOO_DEEP)
        return value, end

    def _collect(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    self.losses.duplicates.append(scrub(key))
                seen.add(key)
        return found

    def _scrubbed(self, value: Any) -> Any:
        cleaned = clean_json(value)
        self.losses.surrogates = _count_changed(value, cleaned)
        return cleaned


def skip_space(text: str, at: int) -> int:
    """Return where the white space of JSON ends that begins at a place."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _is_too_deep(value: Any) -> bool:
    """Say so of a value that holds nothing but what JSON has."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for one in level
            for inner in (one.values() if type(one) is dict else one)
            if type(inner) is dict or type(inner) is list
        ]
        if not level:
            return False
    return True


def _read_float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise JsonLimitError(f"the number {cut(digits, _SHOWN_DIGITS)}")
    return number


def _count_changed(before: Any, after: Any) -> int:
    """Count the texts of a value, keys included, that are not the same after cleaning."""
    return sum(one != other for one, other in zip(_texts(before), _texts(after), strict=False))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
