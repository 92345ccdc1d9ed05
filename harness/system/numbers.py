"""Numbers that were computed, held against a bound: rounding does not decide."""

_ROUNDING = 1e-9
"""How far a computed number may miss a bound and still meet it: nine of ten meet 0.9."""


def reaches(value: float, bound: float) -> bool:
    """Say whether a value is at least a bound, rounding aside."""
    return value >= bound - _ROUNDING


def compares(value: float, op: str, bound: float) -> bool:
    """Say whether `gt`, `gte`, `lt`, `lte` or `eq` holds of a value and a bound, rounding aside."""
    at_least = reaches(value, bound)
    if op == "gte":  # what nearly every score is held against
        return at_least
    at_most = reaches(bound, value)
    return {
        "gt": not at_most,
        "lt": not at_least,
        "lte": at_most,
        "eq": at_least and at_most,
    }[op]
