"""Shares of 0..1 in percent and differences in points, of which rounding makes nothing untrue."""

_NOTHING = 1e-12
"""What is nearer to 0 or 1 is that: no sum of trials is."""

_SMALLEST_SHOWN = 0.05


def percent(share: float) -> str:
    """Return a share in percent with one digit: <0.1 % and >99.9 % where it is not 0 or 1."""
    return f"{_digits(share, 1)} %"


def rounded_percent(share: float) -> str:
    """Return a share in whole percent: <1 % and >99 % where it is not 0 or 1."""
    return f"{_digits(share, 0)} %"


def signed_points(difference: float) -> str:
    """Return a difference of shares in points, with its sign; none is +0.0, and none else so."""
    points = 100 * difference
    if abs(difference) < _NOTHING:
        return "+0.0"
    return f"{points:+.1g}" if abs(points) < _SMALLEST_SHOWN else f"{points:+.1f}"


def _digits(share: float, digits: int) -> str:
    least = 10.0**-digits
    if _NOTHING < share < least / 200:
        return f"<{least:g}"
    if 1 - least / 200 <= share < 1 - _NOTHING:
        return f">{100 - least:g}"
    return f"{100 * max(share, 0.0) + 0.0:.{digits}f}"
