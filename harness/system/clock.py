"""The two clocks: UTC for what is written down, monotonic for how long something took."""

import time
from datetime import UTC, datetime


def now() -> datetime:
    """Return the time of day, in UTC."""
    return datetime.now(UTC)


monotonic = time.perf_counter
"""Seconds by a clock that never jumps; only differences mean something."""
