"""Where a match stands in the text of a call, which may be written otherwise than it is matched.

Arguments are matched as decoded texts, or as compact JSON. The text of a call is what the model
sent: with escapes, blanks and other spellings of numbers, or all of it once more inside of a text.
"""

import json
from typing import Any

import regex

from graders.json_comparison import text_of
from harness.system.json_values import load_json
from harness.system.patterns import check_size, check_time
from harness.system.texts import scrub

Span = tuple[int, int]
"""The first character, and the one after the last."""

_BLANK = regex.compile(r"[ \t\r\n]*+")
_ESCAPE = regex.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\."
)
_TOKEN = regex.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\]:,]|[^\s{}\[\]:,"]++', regex.DOTALL)
_DECODER = json.JSONDecoder()


def span_in_call(sent: str, arguments: Any, span: Span, name: str | None = None) -> Span | None:
    """Return where a match stands in the text of a call; None where that cannot be told.

    `sent` is the text of the call, `arguments` are its decoded arguments. `span` counts in the
    text, or the compact JSON, of the argument called `name`, or without a name of all of them. A
    match of no characters stands for the whole argument.

    Raises:
        SlowPattern: the time limit has passed.
    """
    value = arguments if name is None else arguments[name]
    if name is None and sent == text_of(value):
        return span if span[0] < span[1] else None
    check_size("the arguments", len(sent))
    try:
        return _placed(sent, arguments, span, name)
    except (ValueError, RecursionError):
        return None


def _placed(sent: str, arguments: Any, span: Span, name: str | None) -> Span | None:
    start = _after_blanks(sent, 0)
    given, end = _DECODER.raw_decode(sent, start)
    value = arguments if name is None else arguments[name]
    if isinstance(given, str) and given != value:
        inner = span_in_call(scrub(given), arguments, span, name)
        return inner and _in_literal(sent, start, inner)
    if name is not None:
        start, end = _member(sent, start, name)
    if span[0] == span[1]:
        return start, end
    if isinstance(value, str):
        return _in_literal(sent, start, span)
    first, last = _aligned(sent[start:end], text_of(value), span) or (0, end - start)
    return start + first, start + last


def _member(sent: str, at: int, name: str) -> Span:
    """Return where the value of a key stands in an object; the last of equal keys counts.

    Raises:
        ValueError: the object, which begins at `at`, has no such key.
    """
    found = None
    at = _after_blanks(sent, at + 1)
    while sent[at] != "}":
        check_time(name, what="looking for the argument")
        key, at = _DECODER.raw_decode(sent, at)
        start = _after_blanks(sent, _after_blanks(sent, at) + 1)
        _, end = _DECODER.raw_decode(sent, start)
        if scrub(key) == name:
            found = start, end
        at = _after_blanks(sent, end)
        if sent[at] == ",":
            at = _after_blanks(sent, at + 1)
    if found is None:
        raise ValueError(f"no argument {name!r}")
    return found


def _after_blanks(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _in_literal(sent: str, at: int, span: Span) -> Span:
    """Return where characters of a text stand in the JSON text that begins at `at`."""
    return _written_at(sent, at, span[0]), _written_at(sent, at, span[1])


def _written_at(sent: str, at: int, index: int) -> int:
    position, seen = at + 1, 0
    for escape in _ESCAPE.finditer(sent, at + 1):
        plain = escape.start() - position
        if seen + plain >= index:
            break
        seen += plain + 1
        position = escape.end()
    return position + index - seen


def _aligned(written: str, compact: str, span: Span) -> Span | None:
    """Follow a value in two spellings, token by token; None where an equal key comes twice."""
    start = None
    pairs = zip(_TOKEN.finditer(written), _TOKEN.finditer(compact), strict=False)
    for one, other in pairs:
        check_time("the arguments", what="reading")
        if one.group() != other.group() and load_json(one.group()) != load_json(other.group()):
            return None
        if start is None and span[0] < other.end():
            start = _moved(one, other, span[0], is_end=False)
        if start is not None and span[1] <= other.end():
            return start, _moved(one, other, span[1], is_end=True)
    return None


def _moved(one: regex.Match[str], other: regex.Match[str], index: int, *, is_end: bool) -> int:
    """Return the place in one spelling of a token for an index in the other."""
    inside = index - other.start()
    if one.group() == other.group() or inside == 0:
        return one.start() + inside
    if index == other.end() or not other.group().startswith('"'):
        return one.end() if is_end else one.start()
    read = inside - 1
    for escape in _ESCAPE.finditer(other.group(), 1):
        if escape.start() >= inside:
            break
        # Inside of an escape there is no character: its end, or its start, is meant.
        whole = escape.end() <= inside or is_end
        read -= min(escape.end(), inside) - escape.start() - whole
    return _written_at(one.string, one.start(), read)
