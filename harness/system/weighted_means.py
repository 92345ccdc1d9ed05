"""Weighted means of scores."""

from collections.abc import Sequence
from math import fsum


def weighted_mean(scores: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """Average scores in 0..1; weights need not sum to 1, and where all are 0 they count alike."""
    if len(scores) == 1:
        return scores[0]
    most = max(weights, default=0.0) if weights else 0.0
    if not weights or most <= 0.0:
        return fsum(scores) / len(scores)
    # Shares of the largest weight cannot overflow.
    shares = [weight / most for weight in weights]
    return fsum(map(float.__mul__, shares, scores)) / fsum(shares)
