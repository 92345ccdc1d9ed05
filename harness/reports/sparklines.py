"""Rates over time as one line of bars."""

from collections.abc import Sequence

_BARS = "▁▂▃▄▅▆▇█"
_NONE = "·"
_LEAST_SPAN = 0.1


def sparkline(rates: Sequence[float | None]) -> str:
    """Draw rates in 0..1 as bars, from the lowest to the highest; a dot where there is none.

    A bar is at least an eighth of ten points, so that noise does not look like mountains.
    """
    known = [rate for rate in rates if rate is not None]
    if not known:
        return _NONE * len(rates)
    low, high = min(known), max(known)
    span = max(high - low, _LEAST_SPAN)
    low = max(high - span, 0.0)
    return "".join(_NONE if rate is None else _bar((rate - low) / span) for rate in rates)


def _bar(share: float) -> str:
    return _BARS[min(max(int(share * len(_BARS)), 0), len(_BARS) - 1)]
