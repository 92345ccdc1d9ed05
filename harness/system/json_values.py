"""Foreign JSON made safe to store: plain types, finite numbers, bounded depth, valid Unicode."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import msgspec

from harness.system.texts import scrub

MAX_DEPTH = 200
"""How deep a value may be nested; what is deeper would break whoever walks through it."""

MAX_DIGITS = 4_300
"""How many digits a whole number may have; Python reads and writes no more."""

TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"

_TOO_LONG = f"a number of more than {MAX_DIGITS} digits"
_LEAST_TOO_LONG = 10**MAX_DIGITS


class JsonLimitError(ValueError):
    """JSON holds more than can be kept; the message says of what."""


def json_problem(error: ValueError) -> str:
    """Say of a text that could not be read as JSON what is wrong with it, as in `line 3 …`."""
    said = "is too much to be read" if isinstance(error, JsonLimitError) else "is no JSON"
    return f"{said}: {error}"


def clean_json(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Copy a JSON value into plain types; lone surrogates become U+FFFD.

    Tuples become lists, and keys texts.

    Raises:
        ValueError: the value holds what JSON has no form for, or is nested too deep.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return scrub(str(value))
    if isinstance(value, int | float):
        return finite_number(value)
    if depth == 0:
        raise JsonLimitError(TOO_DEEP)
    if isinstance(value, list | tuple):
        return [clean_json(item, depth - 1) for item in value]
    if isinstance(value, Mapping):
        return {scrub(str(key)): clean_json(item, depth - 1) for key, item in value.items()}
    raise ValueError(f"no JSON value: {type(value).__name__}")


def is_too_deep(value: Any) -> bool:
    """Say whether the lists and mappings of a JSON value are nested deeper than `MAX_DEPTH`."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [item for one in level for item in _items(one)]
        if not level:
            return False
    return any(isinstance(one, dict | list | tuple) for one in level)


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def finite_number(value: float) -> float:
    """Return a number as it is.

    Raises:
        ValueError: it is not finite, or too long to be written.
    """
    if isinstance(value, int):
        if abs(value) >= _LEAST_TOO_LONG:
            raise JsonLimitError(_TOO_LONG)
        return int(value)
    if not math.isfinite(value):
        raise ValueError(f"no JSON number: {value}")
    return float(value)


def scrub_json(value: Any) -> Any:
    """Replace lone surrogates in every text of a JSON value, keys included."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, list | tuple):
        return [scrub_json(item) for item in value]
    if isinstance(value, dict):
        return {scrub(str(key)): scrub_json(item) for key, item in value.items()}
    return value


def storable_json(value: Any) -> Any:
    """Do what `scrub_json` does; a number that is not finite becomes None, as msgspec writes it."""
    if isinstance(value, list | tuple):
        return [storable_json(item) for item in value]
    if isinstance(value, dict):
        return {scrub(str(key)): storable_json(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return scrub_json(value)


def compact_json(value: Any) -> str:
    """Write a JSON value as text without spaces, non-ASCII kept.

    Raises:
        ValueError: the value holds what JSON has no form for, or is nested too deep.
    """
    return msgspec.json.encode(clean_json(value)).decode()


def load_json(data: bytes | str) -> Any:
    """Return the value of JSON that came over the wire; the last of duplicate keys counts.

    Raises:
        ValueError: it is no JSON, or its value cannot be kept.
    """
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        # Escaped lone surrogates are JSON, but not to msgspec.
        text = data if isinstance(data, str) else data.decode(errors="replace")
        return read_json(text)[0]
    return clean_json(value)


def read_json(text: str) -> tuple[Any, tuple[str, ...]]:
    """Return the value of a JSON text, and its duplicate keys.

    The last of duplicate keys counts.

    Raises:
        ValueError: the text is no JSON, or its value cannot be kept.
    """
    duplicates: list[str] = []

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                duplicates.append(scrub(key))
            found[key] = value
        return found

    try:
        value = json.loads(
            text,
            object_pairs_hook=collect,
            parse_constant=refuse_constant,
            parse_int=read_integer,
        )
    except RecursionError:
        raise JsonLimitError(TOO_DEEP) from None
    return clean_json(value), tuple(dict.fromkeys(duplicates))


def read_integer(digits: str) -> int:
    """Return the whole number that is written.

    Raises:
        JsonLimitError: it is too long.
    """
    if len(digits) - digits.startswith("-") > MAX_DIGITS:
        raise JsonLimitError(_TOO_LONG)
    return int(digits)


def refuse_constant(constant: str) -> NoReturn:
    """Refuse `NaN` and the infinities, which Python's `json` would take for numbers."""
    raise ValueError(f"no JSON number: {constant}")
