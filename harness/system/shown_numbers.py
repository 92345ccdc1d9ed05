"""Numbers as people read them: with their noun in the right form, and never with an exponent."""

import math

_NOTHING = 1e-12
"""What is nearer to 0 is rounding noise, and shown as 0."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it is not one."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def counted_of(number: int, of: int, noun: str) -> str:
    """Return how many of some things: `1 of 3 samples`, `1 of 1 sample`."""
    return f"{number:,} of {counted(of, noun)}"


def plain_number(value: float, digits: int = 4, *, sign: str = "") -> str:
    """Return a number to so many digits, whole ones in full; a `+` as sign is shown as well."""
    if abs(value) < _NOTHING:
        return f"{sign}0"
    places = max(digits - 1 - math.floor(math.log10(abs(value))), 0)
    shown = f"{value:{sign},.{places}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def with_unit(shown: str, unit: str) -> str:
    """Return a number that is shown already with its unit, such as `2 steps` and `+1 step`."""
    is_one = shown.lstrip("+-") == "1" and len(unit) > 1
    return f"{shown} {unit.removesuffix('s') if is_one else unit}"
