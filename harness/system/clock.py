"""The two clocks: UTC for what is written down, monotonic for how long something took."""

import time
from datetime import UTC, datetime, timedelta
from functools import partial

_SHORT = 60.0


now = partial(datetime.now, UTC)
"""Returns the time of day, in UTC."""

monotonic = time.perf_counter
"""Seconds by a clock that never jumps; only differences mean something."""


def wait_text(seconds: float) -> str:
    """Say how long a wait is, and when it ends where that is more than a minute from now."""
    if seconds < _SHORT:
        return f"{seconds:g} s"
    try:
        until = now() + timedelta(seconds=seconds)
    except OverflowError:
        return "for ever"
    return f"{seconds:,.0f} s (until {until:%Y-%m-%d %H:%M:%S} UTC)"
