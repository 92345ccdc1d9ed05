"""JSON text read strictly: no duplicate keys, no NaN; errors with their column."""

import json
import re
from typing import Any

import msgspec

from harness.system.json_values import MAX_DEPTH, MAX_DIGITS, is_too_deep
from harness.system.texts import cut

_TOO_DEEP = f"the JSON is nested deeper than {MAX_DEPTH} levels"
_SHALLOW = 2 * MAX_DEPTH  # bytes; a shorter text cannot be nested too deep
_SPACE = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile("[\ud800-\udfff]")


_decode_object = msgspec.json.Decoder(dict[str, Any]).decode


class BadJson(ValueError):  # noqa: N818  (said of a text, not of the program)
    """A text is no JSON that can be used; `column` counts characters from 1, 0 for unknown."""

    def __init__(self, problem: str, column: int = 0) -> None:
        super().__init__(problem)
        self.problem = problem
        self.column = column


def decode_exactly(text: str, *, numbers_as_text: bool = False) -> Any:
    """Return the value of a JSON text; numbers as the texts that were written, if so asked.

    Lone surrogates are kept; `count_surrogates` counts them.

    Raises:
        BadJson: the text is no JSON, or holds what is refused.
    """
    try:
        if numbers_as_text:
            decoder = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refuse)
            return decoder.decode(text)
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_refuse, parse_float=_finite
        )
    except json.JSONDecodeError as error:
        raise BadJson(*_explain(error, text)) from error
    except RecursionError as error:
        raise BadJson(_TOO_DEEP) from error
    except BadJson:
        raise
    except ValueError as error:  # a whole number of thousands of digits
        raise BadJson(f"the JSON holds a number of more than {MAX_DIGITS} digits") from error
    if is_too_deep(value):
        raise BadJson(_TOO_DEEP)
    return value


def _explain(error: json.JSONDecodeError, text: str) -> tuple[str, int]:
    column = error.pos + 1
    if error.pos >= len(text.rstrip()):
        return "the JSON ends before it is complete", column
    if error.msg == "Extra data":
        return "something follows the JSON value on this line", column
    plain = error.msg[:1].lower() + error.msg[1:]
    return f"this is no JSON: {plain}", column


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise BadJson(f'duplicate key "{key}" in one object')
            seen.add(key)
    return value


def _refuse(name: str) -> Any:
    raise BadJson(f"{name} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if value - value != 0.0:
        raise BadJson(f"the number {cut(text, 20)} is too large")
    return value


def count_surrogates(value: Any) -> int:
    """Count the lone surrogates in the texts of a JSON value, keys included."""
    if isinstance(value, str):
        return 0 if value.isascii() else len(_SURROGATE.findall(value))
    if isinstance(value, list | tuple):
        return sum(map(count_surrogates, value))
    if isinstance(value, dict):
        return sum(count_surrogates(key) + count_surrogates(item) for key, item in value.items())
    return 0


def member_columns(text: str) -> dict[str, int]:
    """Return the columns, from 1, at which the values of a JSON object's keys begin.

    The text is known to be a JSON object; of a duplicate key, the later one counts.
    """
    columns: dict[str, int] = {}
    value = json.JSONDecoder().raw_decode
    at = _skip(text, text.index("{") + 1)
    while text[at] == '"':
        key, at = value(text, at)
        at = _skip(text, _skip(text, at) + 1)
        columns[key] = at + 1
        _, at = value(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if at >= len(text):
            break
    return columns


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def decode_fast(data: bytes) -> dict[str, Any]:
    """Decode a JSON object fast; of a duplicate key, the later value is returned.

    Raises:
        Exception: for all that `decode_exactly` refuses, and for some that it accepts.
    """
    value = _decode_object(data)
    if len(data) > _SHALLOW and is_too_deep(value):
        raise BadJson(_TOO_DEEP)
    return value
