"""Numbers that were computed, held against a bound: rounding does not decide."""

_ROUNDING = 1e-9
"""How far a computed number may miss a bound and still meet it: nine of ten meet 0.9."""


def reaches(value: float, bound: float) -> bool:
    """Say whether a value is at least a bound, rounding aside."""
    return value >= bound - _ROUNDING
