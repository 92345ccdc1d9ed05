"""Objects of other libraries as JSON values: any object comes in, plain types go out.

No library is imported: models of pydantic are known by `model_dump`, dataclasses by their fields.
Code of the objects runs and may raise whatever it likes.
"""

import base64
import dataclasses
import math
from collections.abc import Mapping
from datetime import date
from enum import Enum
from typing import Any

from harness.system.json_values import MAX_DEPTH, TOO_DEEP, JsonLimitError
from harness.system.texts import scrub


def take(holder: Any, name: str) -> Any:
    """Return the item of a mapping or the attribute of an object, None where there is none."""
    if isinstance(holder, Mapping):
        return holder.get(name)
    return getattr(holder, name, None)


def plain(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Return a value in the plain types of JSON.

    Bytes become base64, dates ISO 8601, numbers that are not finite and whatever has no JSON form
    their text; an object without a text of its own becomes the name of its type.

    Raises:
        ValueError: it is nested too deep.
    """
    if isinstance(value, Enum):
        return plain(value.value, depth)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return scrub(str(value))
    if isinstance(value, int | float):
        return _number(value)
    if depth == 0:
        raise JsonLimitError(TOO_DEEP)
    return _inner(value, depth - 1)


def _number(value: float) -> Any:
    if isinstance(value, int):
        return int(value)
    return float(value) if math.isfinite(value) else str(float(value))


def _inner(value: Any, depth: int) -> Any:
    if isinstance(value, Mapping):
        return {scrub(str(key)): plain(item, depth) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, depth) for item in value]
    if isinstance(value, set | frozenset):
        # The order of a set differs from process to process.
        return [plain(item, depth) for item in sorted(value, key=str)]
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    if isinstance(value, date):
        return value.isoformat()
    fields = fields_of(value)
    return _text(value) if fields is None else plain(fields, depth)


def fields_of(value: Any) -> Mapping[str, Any] | None:
    """Return what an object holds: the items of a mapping, the fields of a model or dataclass."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, type):
        return None
    if dataclasses.is_dataclass(value):
        # Shallow, unlike `asdict`, which copies what cannot be copied.
        return {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    dump = getattr(value, "model_dump", None)
    dumped = dump() if callable(dump) else None
    return dumped if isinstance(dumped, Mapping) else None


def _text(value: Any) -> str:
    kind = type(value)
    own = any({"__str__", "__repr__"} & vars(base).keys() for base in kind.__mro__[:-1])
    return scrub(str(value)) if own else kind.__name__
