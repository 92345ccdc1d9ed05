"""How often intervals of one run hold the truth."""

from collections import Counter

import numpy as np
from scipy.special import betainc

from harness.measuring.intervals import wilson
from harness.measuring.pass_rates import pass_rate


def wilson_coverage(trials: int) -> float:
    """Return Wilson's coverage averaged over a uniform true pass rate, exactly.

    Of k passes of n, the integral of C(n, k) p^k (1 - p)^(n - k) over the interval is a difference
    of two values of the beta distribution, over n + 1.
    """
    whole = 0.0
    for passes in range(trials + 1):
        low, high = wilson(passes / trials, trials)
        a, b = passes + 1, trials - passes + 1
        whole += float(betainc(a, b, high) - betainc(a, b, low))
    return whole / (trials + 1)


def epochs_coverage(samples: int, epochs: int, repeats: int, seed: int) -> float:
    """Return how often the interval over epochs holds the mean of the samples' true pass rates.

    Samples are drawn from a population with a uniform pass rate, whose mean is one half.
    """
    rng = np.random.default_rng([seed, samples, epochs])
    rates = rng.random((repeats, samples))
    passes = rng.binomial(epochs, rates).tolist()
    found = [pass_rate(Counter((count, epochs) for count in row)) for row in passes]
    return float(np.mean([one.low <= 1 / 2 <= one.high for one in found]))
