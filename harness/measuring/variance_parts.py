"""How much of the spread of results lies within samples, and how much between them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VarianceParts:
    """The variance of single pass/fail trials, in two parts.

    `within` is that between tries at one sample, `between` that of the samples' true rates,
    `correlation` (0..1) the share of the latter, `design_effect` how many times wider the
    variance of the pass rate is than that of as many independent trials. The last two are None
    where nothing varies.
    """

    within: float
    between: float
    correlation: float | None
    design_effect: float | None


def variance_parts(passes: Sequence[int], epochs: int) -> VarianceParts:
    """Split the variance of trials, from each sample's passes in `epochs` >= 2 tries.

    within = mean of c(K - c) / (K(K - 1)); between = var(c / K) - within / K, 0 where that is
    negative; correlation = between / (between + within); design effect 1 + (K - 1) * correlation.
    At least two samples. By one-way analysis of variance.
    """
    n = len(passes)
    within = math.fsum(c * (epochs - c) for c in passes) / (epochs * (epochs - 1)) / n
    between = max(sample_variance([c / epochs for c in passes]) - within / epochs, 0.0)
    whole = within + between
    if whole == 0:
        return VarianceParts(within, between, None, None)
    correlation = between / whole
    return VarianceParts(within, between, correlation, 1 + (epochs - 1) * correlation)


def variance_of_mean(between: float, within: float, epochs: int) -> float:
    """Return the variance of one sample's mean over so many epochs: between + within / K.

    Source: Miller (2024), arXiv 2411.00640.
    """
    return between + within / epochs


def sample_variance(values: Sequence[float]) -> float:
    """Return the variance of at least two values, by n - 1."""
    centre = math.fsum(values) / len(values)
    return math.fsum((x - centre) ** 2 for x in values) / (len(values) - 1)
