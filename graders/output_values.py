"""The values in a tool output: what an answer has to tell for it to tell the output.

Of JSON these are its texts and numbers, keys and truth values aside, also where JSON is wrapped
in the texts of JSON. Of any other text they are its numbers, with their signs, and the words that
hold a digit or a sign such as `/`, `_`, `@`, `#`, `{`: ids, paths, measures. A text without any is
a value as a whole.
"""

from collections.abc import Iterator
from decimal import Decimal
from operator import itemgetter
from typing import Any

import regex

from graders.told_numbers import number_of, numbers_in
from harness.system.json_values import load_json
from harness.system.patterns import check_time

_DECODES = 3
_SHORT = 80
"""Characters of a text in JSON that is a value as a whole; longer ones hold values."""

_LONGEST_NUMBER = 60
_WORD = regex.compile(r"\S++")
_EDGES = "\"'`([<{,;:.!?)]>}*|"
_TELLING = regex.compile(r"\d|[\p{L}\d][/_@#{}\\=$%:]|[/_@#{}\\=$%:][\p{L}\d]")
_CLOSERS = {"}": "{", "]": "[", ")": "("}

Value = str | Decimal
"""A text, or a number with its sign: numbers are told in any spelling."""


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


def values_of(value: Any) -> list[Value]:
    """Return the values of a decoded output, each once, in order; none where it holds nothing.

    Raises:
        SlowPattern: the time limit has passed.
    """
    found = _text_values(value) if isinstance(value, str) else _leaf_values(value)
    return list(dict.fromkeys(found))


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
        written = str(value)
        yield Decimal(written) if len(written) <= _LONGEST_NUMBER else written


def _short_values(text: str) -> Iterator[Value]:
    number = number_of(text.strip())
    if number is not None:
        yield number
    elif text.strip():
        yield text.strip()


def _text_values(text: str) -> Iterator[Value]:
    found: list[tuple[int, Value]] = [
        (start, number) for number, (start, _) in numbers_in(text).items()
    ]
    found += _telling_words(text)
    yield from (value for _, value in sorted(found, key=itemgetter(0)))
    if not found and text.strip():
        yield text.strip()


def _telling_words(text: str) -> Iterator[tuple[int, Value]]:
    for match in _WORD.finditer(text):
        check_time("the output", what="reading")
        kept = _stripped(match.group())
        if _TELLING.search(kept) and number_of(kept) is None:
            yield match.start(), kept


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
