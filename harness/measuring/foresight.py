"""What a comparison of two runs will see, before either is made: power of its verdicts."""

import math
from collections.abc import Sequence

from harness.measuring.beta_intervals import clopper_pearson, failure_rate_bound
from harness.measuring.flakiness import disagreement
from harness.measuring.power import POWER, verdict_chances
from harness.measuring.run_pairs import MOST_CHURN, RunPair
from harness.types.suite_plans import Chances, ChurnSource, Sight

EXACT_UP_TO = 200
"""With more samples the chances of all verdicts take too long."""

_DOUBT = 0.05
_MOST_CHANGE = 1.0


def sight(
    samples: int, epochs: int, *, churn: float, detect: float, source: ChurnSource = "assumed"
) -> Sight:
    """Return what two runs of so many samples and epochs see of a drop of `detect`.

    `churn` (0..1) is the share of samples that change between two runs of one epoch with nothing
    changed, half of them up and half down. See `RunPair` for how exact it is.
    """
    runs = RunPair(samples, epochs, epochs, churn)
    chance = runs.chance(detect)
    is_enough = chance >= POWER
    return Sight(
        churn=churn,
        source=source,
        detectable=runs.detectable(),
        chance=chance,
        chance_if_whole=runs.chance_if_whole(detect),
        samples_needed=max(runs.samples_needed(detect), 0 if is_enough else samples + 1),
        epochs_needed=max(runs.epochs_needed(detect), 0 if is_enough else epochs + 1),
        verdicts=_verdicts(runs, detect) if epochs == 1 and samples <= EXACT_UP_TO else (),
    )


def _verdicts(runs: RunPair, detect: float) -> tuple[Chances, ...]:
    odds = {drop: runs.odds(drop) for drop in (0.0, detect, 2 * detect) if drop < _MOST_CHANGE}
    found = [
        (
            drop,
            verdict_chances(runs.samples, margin=detect, drop=regress - improve, improve=improve),
        )
        for drop, (regress, improve) in odds.items()
        if regress + improve < _MOST_CHANGE
    ]
    return tuple(
        Chances(
            drop=drop,
            regressed=of.regressed,
            improved=of.improved,
            no_worse=of.no_worse,
            inconclusive=of.inconclusive,
        )
        for drop, of in found
    )


def churns_of(samples: Sequence[tuple[int, int]]) -> tuple[tuple[float, ChurnSource], ...]:
    """Return how many samples change with nothing changed, from (passes, trials) of each.

    Where samples have two trials or more it is the mean of 2c(K - c) / (K(K - 1)) over those,
    which has no bias; where none of these disagree, so many at most is told too. Where no sample
    has two, it is at most 2p(1 - p), p being the pass rate: as if all samples were equally hard.
    "At most" is the end of a one-sided 95 % interval of Clopper and Pearson, so that it is never 0.
    Empty for no trial.
    """
    repeated = [(c, k) for c, k in samples if k > 1]
    if repeated:
        seen = math.fsum(disagreement(c, k) for c, k in repeated) / len(repeated)
        return ((seen, "measured"),) if seen else ((seen, "measured"), _unseen(repeated))
    ran = [c for c, k in samples if k]
    if not ran:
        return ()
    low, high = clopper_pearson(sum(ran), len(ran), confidence=1 - 2 * _DOUBT)
    nearest = min(max(0.5, low), high)
    return ((2 * nearest * (1 - nearest), "at_most"),)


def _unseen(repeated: Sequence[tuple[int, int]]) -> tuple[float, ChurnSource]:
    """Return what share may change where no pair of trials did: each trial in one pair alone."""
    pairs = len(repeated) * min(k // 2 for _, k in repeated)
    return min(failure_rate_bound(pairs, confidence=1 - _DOUBT), MOST_CHURN), "at_most"
