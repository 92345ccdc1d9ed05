"""The grade of a grader that broke: status `error`, with a code and what happened."""

import inspect
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.system.patterns import SlowPattern
from harness.system.redaction import redact
from harness.system.texts import cut, error_line
from harness.types.errors import GraderError
from harness.types.grades import Grade

_MOST_CHARACTERS = 8_000
_MARGIN = 4_000
"""Characters beyond what is kept that secrets are looked for in, so that no half of one is left."""


def error_grade(code: str, message: str, **details: str) -> Grade:
    """Return an error grade, without the values of secrets: `code` is a key of the table."""
    message = cut(redact(cut(message, _MOST_CHARACTERS + _MARGIN)), _MOST_CHARACTERS)
    return Grade(status="error", evidence=f"{code}: {message}", details={"code": code, **details})


def grade_of_exception(error: BaseException, *, source: str | None = None) -> Grade:
    """Return the error grade of an exception: its type, its message, and where it was raised.

    `source` is the file of the custom function: of all places on the way, the last in that file
    is named; without one, the very last.
    """
    message = f"{error_line(error)}{_place(error, source)}"
    return error_grade("grader_broke", message, traceback=_trace(error))


def grade_of_user_error(error: BaseException, function: Callable[..., Any]) -> Grade:
    """Return the error grade of what a function of the suite has raised."""
    if isinstance(error, GraderError):
        return error_grade(error.code, str(error))
    if isinstance(error, SlowPattern):
        return error_grade("pattern_timeout", str(error))
    code = getattr(inspect.unwrap(function), "__code__", None)
    return grade_of_exception(error, source=getattr(code, "co_filename", None))


def _place(error: BaseException, source: str | None) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if source is None or frame.filename == source]
    if not own:
        return ""
    return f" ({Path(own[-1].filename).name}:{own[-1].lineno})"


def _trace(error: BaseException) -> str:
    try:
        text = "".join(traceback.format_exception(error))
    except Exception as second:  # noqa: BLE001  (printing an exception runs its class's code)
        return f"(cannot be shown: {type(second).__name__})"
    kept = redact(text[-(_MOST_CHARACTERS + _MARGIN) :])[-_MOST_CHARACTERS:]
    if len(text) <= _MOST_CHARACTERS:
        return kept
    omitted = len(text) - _MOST_CHARACTERS
    return f"(the first {omitted:,} characters are left out)\n{kept}"
