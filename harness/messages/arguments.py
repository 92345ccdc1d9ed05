"""The arguments of a tool call: the text a model sent comes in, a JSON value goes out."""

from dataclasses import dataclass
from typing import Any

from harness.system.json_values import clean_json, read_json
from harness.system.texts import scrub


@dataclass(frozen=True, slots=True)
class Arguments:
    """A call's arguments: `value` is any JSON value, `text` what was sent.

    `text` is None where the source held no text; `duplicates` are the duplicate keys.
    """

    value: Any
    text: str | None
    duplicates: tuple[str, ...] = ()


def read_arguments(raw: Any) -> Arguments:
    """Read the arguments of a call as its source holds them.

    - null and a blank text mean no arguments: `{}`.
    - An object (or any other value except a text) is kept as it is, without a text.
    - Of a JSON text the value is taken. Where that is a text that holds a JSON object or list, it
      was encoded twice and is decoded once more, but never a third time.
    - A text that is not JSON is kept as it is, in `value` and in `text`.

    Raises:
        ValueError: a value other than a text cannot be kept as JSON.
    """
    if raw is None:
        return Arguments({}, None)
    if not isinstance(raw, str):
        return Arguments(clean_json(raw), None)
    text = scrub(raw)
    if not text.strip():
        return Arguments({}, text)
    try:
        value, duplicates = read_json(text)
    except ValueError:
        return Arguments(text, text)
    if isinstance(value, str):
        value, duplicates = _decode_again(value)
    return Arguments(value, text, duplicates)


def _decode_again(text: str) -> tuple[Any, tuple[str, ...]]:
    try:
        value, duplicates = read_json(text)
    except ValueError:
        return text, ()
    return (value, duplicates) if isinstance(value, dict | list) else (text, ())
