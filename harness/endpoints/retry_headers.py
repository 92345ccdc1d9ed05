"""What an endpoint's headers say of when to ask again: headers come in, seconds go out.

`retry-after-ms` goes before `retry-after`, which holds seconds or a date (RFC 9110, 10.2.3). An
endpoint that sends neither may still tell when its limits are reset, as OpenAI does by
`x-ratelimit-reset-requests: 6m0s`, and Anthropic by `anthropic-ratelimit-requests-reset`, a time.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from math import isfinite

from harness.system.clock import now

_KINDS = ("requests", "tokens", "input-tokens", "output-tokens")
_SPAN = re.compile(
    r"(?=\d)(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m(?!s))?"
    r"(?:(\d{1,9}(?:\.\d{1,9})?)s)?(?:(\d{1,9}(?:\.\d{1,9})?)ms)?"
)
_UNITS = (86_400.0, 3_600.0, 60.0, 1.0, 0.001)
_EPOCH = 1_000_000_000
"""A number of seconds as large as this is a time since 1970."""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return how many seconds an endpoint asks to wait; None where that makes no sense."""
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _seconds(text)
    if seconds is None:
        seconds = _until(text)
    return max(_resets(headers), default=None) if seconds is None else seconds


def _resets(headers: Mapping[str, str]) -> Iterator[float]:
    """Return when each limit is reset that is used up: the others hold nobody up."""
    for kind in _KINDS:
        for left, reset in (
            (f"x-ratelimit-remaining-{kind}", f"x-ratelimit-reset-{kind}"),
            (f"anthropic-ratelimit-{kind}-remaining", f"anthropic-ratelimit-{kind}-reset"),
        ):
            if headers.get(left) == "0" and (seconds := _reset(headers.get(reset))) is not None:
                yield seconds


def _reset(text: str | None) -> float | None:
    seconds = _seconds(text)
    if seconds is not None:
        return seconds if seconds < _EPOCH else _positive(seconds - now().timestamp())
    found = _SPAN.fullmatch(text or "")
    if found:
        return sum(float(n or 0) * unit for n, unit in zip(found.groups(), _UNITS, strict=True))
    try:
        return _positive((datetime.fromisoformat(text or "") - now()).total_seconds())
    except (ValueError, TypeError):
        return None


def _positive(seconds: float) -> float | None:
    return seconds if seconds > 0 else None


def _seconds(text: str | None) -> float | None:
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return seconds if isfinite(seconds) and seconds >= 0 else None


def _until(text: str | None) -> float | None:
    try:
        moment = parsedate_to_datetime(text or "")
        return _positive((moment - now()).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None
