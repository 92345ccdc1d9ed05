"""Times of other tools: counted from 1970 or written out, they come in; times in UTC go out."""

from datetime import UTC, datetime
from typing import Any

from harness.messages.letta_messages import read_date

_MOST_SECONDS = 10**11


def read_time(value: Any, *, per_second: int = 1) -> datetime | None:
    """Return a time; None for what is none.

    A number counts from 1970, `per_second` units a second; a text is such a number or ISO 8601.
    """
    if isinstance(value, str):
        if not value.isdecimal():
            return read_date(value)
        value = int(value) if len(value) < 30 else None  # noqa: PLR2004  (longer is no time)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= _MOST_SECONDS * per_second:
        return None
    return datetime.fromtimestamp(value / per_second, UTC)
