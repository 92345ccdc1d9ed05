"""Estimates over samples that hang together: of one document, in one environment."""

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence

from harness.measuring.intervals import t_quantile, wilson
from harness.types.summaries import Interval, Mean


def cluster_error(values: Sequence[float], clusters: Sequence[Hashable]) -> float:
    """Return the standard error of a mean of samples in C >= 2 clusters.

    sqrt(C / (C - 1) * sum over clusters of (sum of residuals)^2) / n. Source: Miller (2024), arXiv
    2411.00640.
    """
    centre = math.fsum(values) / len(values)
    residuals: defaultdict[Hashable, list[float]] = defaultdict(list)
    for value, cluster in zip(values, clusters, strict=True):
        residuals[cluster].append(value - centre)
    count = len(residuals)
    squares = math.fsum(math.fsum(each) ** 2 for each in residuals.values())
    return math.sqrt(count / (count - 1) * squares) / len(values)


def cluster_mean(
    values: Sequence[float],
    clusters: Sequence[Hashable],
    *,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Mean:
    """Estimate a mean with its 95 % t interval on C - 1 degrees of freedom, cut at the bounds.

    The ends are None for fewer than two clusters, and where the clusters show no spread.
    """
    centre = math.fsum(values) / len(values) if values else None
    count = len(set(clusters))
    if centre is None or count < 2:  # noqa: PLR2004 - one cluster shows no spread
        return Mean(mean=centre)
    half = t_quantile(count - 1, 0.975) * cluster_error(values, clusters)
    if half == 0:
        return Mean(mean=centre)
    return Mean(mean=centre, low=max(centre - half, bounds[0]), high=min(centre + half, bounds[1]))


def cluster_pass_rate(
    means: Sequence[float], clusters: Sequence[Hashable], *, trials: int
) -> Interval:
    """Estimate a pass rate from each sample's mean, by Wilson on the effective number of trials.

    rate(1 - rate) / error^2, between the number of clusters and that of trials. One cluster has no
    interval.
    """
    if not means:
        return Interval(value=None)
    rate = math.fsum(means) / len(means)
    count = len(set(clusters))
    if count < 2:  # noqa: PLR2004 - one cluster shows no spread
        return Interval(value=rate)
    error = cluster_error(means, clusters)
    worth = rate * (1 - rate) / error**2 if error else count
    low, high = wilson(rate, min(max(worth, count), trials))
    return Interval(value=rate, low=low, high=high)
