"""Texts made safe: for storing (lone surrogates) and for showing (control characters)."""

import re
from typing import Any

import msgspec

_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def scrub(text: str) -> str:
    """Replace lone surrogates by U+FFFD; joined pairs become the character they stand for."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def scrub_json(value: Any) -> Any:
    """Replace lone surrogates in every text of a JSON value, keys included."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, list | tuple):
        return [scrub_json(item) for item in value]
    if isinstance(value, dict):
        return {scrub(str(key)): scrub_json(item) for key, item in value.items()}
    return value


def harmless(text: str) -> str:
    r"""Show control characters, text-direction overrides and lone surrogates as escapes.

    Line feeds and tabs stay; `\x1b[31m` is shown as those letters.
    """
    return _HARMFUL.sub(lambda m: ascii(m.group())[1:-1], text)


def one_line(text: str, width: int = 0) -> str:
    """Show a text on one line, harmless; cut with an ellipsis to `width` characters if given."""
    line = harmless(text).replace("\n", "\\n").replace("\t", "\\t")
    return f"{line[: width - 1]}…" if width and len(line) > width else line


def compact_json(value: Any) -> str:
    """Give a value as JSON text without spaces, non-ASCII kept.

    Raises:
        ValueError: the value holds what JSON has no form for, such as a number that is not finite.
    """
    try:
        return msgspec.json.encode(_finite(value)).decode()
    except (TypeError, RecursionError, UnicodeEncodeError, msgspec.ValidationError) as error:
        raise ValueError(f"no JSON value: {error}") from error


def _finite(value: Any) -> Any:
    if isinstance(value, float) and value - value != 0.0:
        raise ValueError(f"no JSON number: {value}")
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    return value
