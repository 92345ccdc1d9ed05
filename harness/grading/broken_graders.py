"""The grade of a grader that broke: status `error`, with a code and what happened."""

import traceback
from pathlib import Path

from harness.types.grades import Grade

_MOST_CHARACTERS = 8_000


def broken(code: str, message: str, **details: str) -> Grade:
    """Give an error grade: `code` is a key of the table of errors."""
    return Grade(status="error", evidence=f"{code}: {message}", details={"code": code, **details})


def broken_by(error: BaseException, *, source: str | None = None) -> Grade:
    """Give the error grade of an exception: its type, its message, and where it was raised.

    `source` is the file of the custom function: of all places on the way, the last in that file
    is named.
    """
    kind = type(error).__name__
    message = _text_of(error)
    place = _place(error, source)
    return broken(
        "grader_broke",
        f"{kind}: {message}{place}" if message else f"{kind}{place}",
        traceback=_trace(error),
    )


def _place(error: BaseException, source: str | None) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == source]
    if not own:
        return ""
    return f" ({Path(own[-1].filename).name}:{own[-1].lineno})"


def _text_of(error: BaseException) -> str:
    """Give the message of an exception, which is foreign code and may itself raise."""
    try:
        return str(error)
    except Exception as second:  # noqa: BLE001  (whatever it is, the first error is the news)
        return f"(its message cannot be read: {type(second).__name__})"


def _trace(error: BaseException) -> str:
    try:
        text = "".join(traceback.format_exception(error))
    except Exception as second:  # noqa: BLE001  (as above)
        return f"(cannot be read: {type(second).__name__})"
    if len(text) <= _MOST_CHARACTERS:
        return text
    return (
        f"(the first {len(text) - _MOST_CHARACTERS:,} characters are left out)\n"
        + (text[-_MOST_CHARACTERS:])
    )
