"""Durations as Vally writes them: a number with its unit."""

import re
from collections.abc import Mapping
from types import MappingProxyType

_DURATION = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)\s*(ms|s|m|h)", re.ASCII)
_SECONDS: Mapping[str, float] = MappingProxyType({"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0})


def read_seconds(text: str) -> float | None:
    """Return the seconds of a duration such as `30000ms`, `300s`, `5m` or `1h`; None if none."""
    match = _DURATION.fullmatch(text.strip())
    seconds = float(match[1]) * _SECONDS[match[2]] if match else 0.0
    return seconds or None
