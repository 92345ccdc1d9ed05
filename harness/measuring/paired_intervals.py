"""Intervals of D, the candidate's mean less the baseline's."""

import math
from collections.abc import Callable
from statistics import NormalDist

from harness.measuring.intervals import t_quantile
from harness.measuring.paired_differences import Moves, Spread
from harness.measuring.paired_outcomes import Pair, Pairs

_HALVINGS = 60


def tango_score(difference: float, moves: Moves) -> float:
    """Return how many standard errors the D that was seen lies above a supposed D in -1..1.

    s(D) = (g - r - nD) / sqrt(n(2q + D(1 - D))), q being the share of regressions that is likeliest
    under D; it falls as D grows. For one trial a side. s(-margin) is the test of "no worse". 0/0
    is 0. Source: Tango (1998), Stat. Med. 17, 891-908.
    """
    n, r, g = moves.samples, moves.regressed, moves.improved
    b = -g - r + (2 * n - g + r) * difference
    c = -r * difference * (1 - difference)
    q = (math.sqrt(max(b * b - 8 * n * c, 0.0)) - b) / (4 * n)
    variance = n * (2 * q + difference * (1 - difference))
    over = g - r - n * difference
    if variance <= 0:
        return math.copysign(math.inf, over) if over else 0.0
    return over / math.sqrt(variance)


def tango_interval(moves: Moves, *, confidence: float = 0.90) -> tuple[float, float]:
    """Return all D that the score test would not reject, for one trial a side.

    With nothing changed it is +-z^2 / (n + z^2), never of no width; where all regressed (or
    improved) that end is -1 (or 1). At least one sample.
    """
    z = _normal_quantile(confidence)
    seen = (moves.improved - moves.regressed) / moves.samples
    low, high = -1.0, 1.0
    if moves.regressed < moves.samples:
        low = _bisect(lambda d: tango_score(d, moves) - z, -1.0, seen)
    if moves.improved < moves.samples:
        high = _bisect(lambda d: tango_score(d, moves) + z, seen, 1.0)
    return low, high


def no_worse_p(margin: float, moves: Moves) -> float:
    """Return the p value of "worse by the margin or more", for one trial a side; margin in 0..1."""
    return 1 - NormalDist().cdf(tango_score(-margin, moves))


def fixed_suite_error(pairs: Pairs) -> float:
    """Return the standard error of D on these very samples: only noise between runs counts.

    se^2 = sum over samples of [x_A(1 - x_A) / (K_A - 1) + x_B(1 - x_B) / (K_B - 1)] / n^2, for at
    least two trials of every sample on both sides. Source: Miller (2024), arXiv 2411.00640.
    """
    n = sum(count for _, count in pairs)
    return math.sqrt(math.fsum(count * _noise(pair) for pair, count in pairs)) / n


def fixed_suite_interval(pairs: Pairs, *, confidence: float = 0.90) -> tuple[float, float]:
    """Return D +- z * the error on these samples, inside -1..1.

    For at least two trials of every sample on both sides. The half width is never below z^2 /
    (T + z^2), T being the smaller run's number of trials: a spotless night is not more certain
    than one with a slip (a convention of Regrade).
    """
    z = _normal_quantile(confidence)
    n = sum(count for _, count in pairs)
    difference = math.fsum(pair.difference * count for pair, count in pairs) / n
    half = max(z * fixed_suite_error(pairs), z * z / (fewer_trials(pairs) + z * z))
    return max(difference - half, -1.0), min(difference + half, 1.0)


def fewer_trials(pairs: Pairs) -> int:
    """Return how many trials the run with fewer of them has."""
    baseline = sum(pair.baseline_trials * count for pair, count in pairs)
    return min(baseline, sum(pair.candidate_trials * count for pair, count in pairs))


def t_interval(
    spread: Spread, *, is_pass: bool, reach: float = math.inf, confidence: float = 0.90
) -> tuple[float, float] | None:
    """Return the mean difference +- t * its error over samples, inside -reach..reach.

    None for fewer than two samples, and for scores that show no spread. Of passes the half width
    is never below z^2 / (n + z^2).
    """
    n = spread.samples
    if n < 2 or (spread.error == 0 and not is_pass):  # noqa: PLR2004 - one has no spread
        return None
    half = t_quantile(n - 1, (1 + confidence) / 2) * spread.error
    if is_pass:
        z = _normal_quantile(confidence)
        half = max(half, z * z / (n + z * z))
    return max(spread.mean - half, -reach), min(spread.mean + half, reach)


def _noise(pair: Pair) -> float:
    """Return the variance of a sample's difference between runs that only noise makes."""
    baseline = pair.baseline_total / pair.baseline_trials
    candidate = pair.candidate_total / pair.candidate_trials
    return baseline * (1 - baseline) / (pair.baseline_trials - 1) + (
        candidate * (1 - candidate) / (pair.candidate_trials - 1)
    )


def _bisect(falling: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling function crosses 0."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return (low + high) / 2


def _normal_quantile(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)
