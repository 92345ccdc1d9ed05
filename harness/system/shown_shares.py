"""Shares of 0..1 in percent, differences in points, chances: rounding makes nothing untrue."""

from harness.system.shown_numbers import plain_number

_NOTHING = 1e-12
"""What is nearer to 0 or 1 is that: no sum of trials is."""

_SMALLEST_SHOWN = 0.05
_LEAST_CHANCE = 0.001
_ALPHA = "0.050"
"""What a chance is held against: one that is not this is not shown as this."""


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
    if abs(points) < _SMALLEST_SHOWN:
        return plain_number(points, 1, sign="+")
    return f"{points:+.1f}"


def probability(chance: float) -> str:
    """Return a p value with three digits: <0.001 and >0.999 where it is not 1, and no false .05."""
    if chance < _LEAST_CHANCE:
        return f"<{_LEAST_CHANCE:g}"
    if 1 - _LEAST_CHANCE < chance < 1 - _NOTHING:
        return f">{1 - _LEAST_CHANCE:g}"
    shown = f"{chance:.3f}"
    return plain_number(chance) if shown == _ALPHA else shown


def _digits(share: float, digits: int) -> str:
    least = 10.0**-digits
    if _NOTHING < share < least / 200:
        return f"<{least:g}"
    if 1 - least / 200 <= share < 1 - _NOTHING:
        return f">{100 - least:g}"
    return f"{100 * max(share, 0.0) + 0.0:.{digits}f}"
