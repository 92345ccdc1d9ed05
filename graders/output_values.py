"""The values in a tool output: what an answer has to tell for it to tell the output.

Of JSON these are its texts and numbers, keys and truth values aside, also where JSON is wrapped
in the texts of JSON. Of any other text they are its numbers, and the words that hold a digit or a
sign such as `/`, `_`, `@`, `#`, `{`: ids, paths, measures. A text without any is a value as a
whole.
"""

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from itertools import chain
from typing import Any

import regex

from graders.normalised_texts import ungroup
from harness.system.json_values import load_json
from harness.system.patterns import check_time

_DECODES = 3
_SHORT = 80
"""Characters of a text in JSON that is a value as a whole; longer ones hold values."""

_LONGEST_NUMBER = 60
_NUMBER = regex.compile(r"(?<![\w.,-])-?\d[\d,]{0,60}(?:\.\d{1,60})?(?![\d.,]{0,60}\d)(?!-?\w)")
_TOLD_NUMBER = regex.compile(r"\d[\d,]{0,60}(?:\.\d{1,60})?")
_WORD = regex.compile(r"\S++")
_EDGES = "\"'`([<{,;:.!?)]>}*|"
_TELLING = regex.compile(r"\d|[\p{L}\d][/_@#{}\\=$%:]|[/_@#{}\\=$%:][\p{L}\d]")
_CLOSERS = {"}": "{", "]": "[", ")": "("}

Value = str | Decimal
"""A text, or a number: numbers are told in any spelling."""


def decoded(text: str) -> Any:
    """Return the value of a JSON text, decoded where it is wrapped; a text that is none as it is.

    Content blocks (`{"type": "text", "text": ...}`) stand for their text.
    """
    return _unwrapped(text, _DECODES)


def _unwrapped(value: Any, left: int) -> Any:
    check_time("the output", what="reading")
    if isinstance(value, str):
        if not left or value.lstrip()[:1] not in ("{", "[", '"'):
            return value
        try:
            inner = load_json(value)
        except ValueError:
            return value
        return _unwrapped(inner, left - 1)
    if isinstance(value, dict):
        if value.get("type") == "text" and isinstance(value.get("text"), str):
            return _unwrapped(value["text"], left)
        return {key: _unwrapped(item, left) for key, item in value.items()}
    return [_unwrapped(item, left) for item in value] if isinstance(value, list) else value


def values_of(text: str) -> list[Value]:
    """Return the values of an output, each once, in order; none where it holds nothing.

    Raises:
        SlowPattern: the time limit has passed.
    """
    value = decoded(text)
    found = _text_values(value) if isinstance(value, str) else _leaf_values(value)
    return list(dict.fromkeys(found))


def numbers_in(text: str) -> frozenset[Decimal]:
    """Return the numbers that a text tells, thousands separated or not."""
    found: set[Decimal | None] = set()
    for match in chain(_TOLD_NUMBER.finditer(text), _TOLD_NUMBER.finditer(ungroup(text))):
        check_time("the answer", what="reading")
        found.add(_number(match.group().replace(",", "")))
    return frozenset(number for number in found if number is not None)


def _leaf_values(value: Any) -> Iterator[Value]:
    check_time("the output", what="reading")
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaf_values(item)
    elif isinstance(value, str):
        if len(value) <= _SHORT and "\n" not in value.strip():
            yield from _short_values(value)
        else:
            yield from _text_values(value)
    else:
        number = _number(str(value))
        yield str(value) if number is None else abs(number)


def _short_values(text: str) -> Iterator[Value]:
    number = _number(text.strip())
    if number is not None:
        yield abs(number)
    elif text.strip():
        yield text.strip()


def _text_values(text: str) -> Iterator[Value]:
    found = False
    for match in _WORD.finditer(text):
        check_time("the output", what="reading")
        for value in _word_values(match.group()):
            found = True
            yield value
    if not found and text.strip():
        yield text.strip()


def _word_values(word: str) -> Iterator[Value]:
    for match in _NUMBER.finditer(word):
        number = _number(match.group().replace(",", ""))
        if number is not None:
            yield abs(number)
    kept = _stripped(word)
    if _TELLING.search(kept) and _number(kept.replace(",", "")) is None:
        yield kept


def _stripped(word: str) -> str:
    """Strip punctuation at the ends, but no bracket whose partner is inside."""
    start, end = 0, len(word)
    while start < end and word[start] in _EDGES:
        start += 1
    while end > start and word[end - 1] in _EDGES:
        opener = _CLOSERS.get(word[end - 1])
        if opener and opener in word[start:end]:
            break
        end -= 1
    return word[start:end]


def _number(text: str) -> Decimal | None:
    if len(text) > _LONGEST_NUMBER:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
