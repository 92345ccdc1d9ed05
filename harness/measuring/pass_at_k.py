"""pass@k and pass^k: whether at least one, or all, of k tries would pass."""

import math
from collections.abc import Iterable

from harness.measuring.intervals import mean
from harness.types.summaries import PassAtK


def pass_at_k(passes: int, trials: int, k: int) -> float:
    """Return the chance that at least one of k trials drawn without putting back passed.

    1 - C(trials - passes, k) / C(trials, k), for 1 <= k <= trials. An errored trial is one that
    failed. Source: Chen et al. (2021), arXiv 2107.03374.
    """
    return 1 - math.comb(trials - passes, k) / math.comb(trials, k)


def pass_hat_k(passes: int, trials: int, k: int) -> float:
    """Return the chance that all of k trials drawn without putting back passed.

    C(passes, k) / C(trials, k), for 1 <= k <= trials. Source: Yao et al. (2024), tau-bench, arXiv
    2406.12045.
    """
    return math.comb(passes, k) / math.comb(trials, k)


def pass_at_least(m: int, passes: int, trials: int, *, k: int) -> float:
    """Return the chance that at least m of k trials drawn without putting back passed.

    For 0 <= m <= k <= trials. With m = 1 this is pass@k, with m = k pass^k. Source: G-Pass@k,
    arXiv 2412.13147.
    """
    ways = sum(math.comb(passes, i) * math.comb(trials - passes, k - i) for i in range(m, k + 1))
    return ways / math.comb(trials, k)


def pass_at_k_over(samples: Iterable[tuple[int, int]], k: int) -> PassAtK:
    """Return pass@k and pass^k of samples, each given as (passes, trials): means over samples.

    Trials are never pooled. A sample with fewer than k trials has no pass@k and is left out.
    """
    given = list(samples)
    enough = sorted((passes, trials) for passes, trials in given if trials >= k)
    # Many samples have the same few results.
    chances = {one: (pass_at_k(*one, k), pass_hat_k(*one, k)) for one in dict.fromkeys(enough)}
    return PassAtK(
        k=k,
        at_least_one=mean([chances[one][0] for one in enough]),
        all_of_them=mean([chances[one][1] for one in enough]),
        samples=len(enough),
        left_out=len(given) - len(enough),
    )
