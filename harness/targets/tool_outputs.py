"""What a tool function returned: a Python value comes in, the text for the agent goes out."""

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

import msgspec
from pydantic_core import PydanticSerializationError, to_jsonable_python

from harness.messages.outputs import Output
from harness.system.json_values import clean_json, compact_json
from harness.system.texts import one_line, scrub

_WIDTH = 2_000


def output_of(value: Any) -> Output:
    """Give a tool's result: a text as it is, anything else as compact JSON.

    Records are encoded as the mappings they are: dataclasses, those of pydantic and msgspec, rows
    of a database. What has no JSON form is a failed result that says so.
    """
    if isinstance(value, str):
        return Output(scrub(str(value)))
    try:
        structured = clean_json(to_jsonable_python(value, fallback=_encode))
    except (PydanticSerializationError, ValueError, TypeError, RecursionError) as error:
        return failed_output(f"the tool returned a {type(value).__name__}: {error}", "TypeError")
    return Output(compact_json(structured), structured=structured)


def _encode(value: Any) -> Any:
    if isinstance(value, Mapping) or hasattr(value, "keys"):
        return dict(value)
    if isinstance(value, PathLike):
        return fspath(value)
    return msgspec.to_builtins(value, str_keys=True)


def failed_output(message: str, kind: str = "") -> Output:
    """Give the result of a call that failed: `kind: message`, on one line."""
    text = f"{kind}: {message}" if kind and message else kind or message
    return Output(one_line(scrub(text), _WIDTH), ok=False)
