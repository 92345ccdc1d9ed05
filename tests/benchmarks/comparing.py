"""What a verdict on two runs of 100,000 trials each takes, against merely reading the outcomes.

The reference sorts the same outcomes and adds them up. Exits with 1 where a promise is not kept.
"""

import gc
import random
import sys
import time
from collections.abc import Callable, Sequence

from rich.console import Console

from harness.measuring.paired_outcomes import (
    ComparedMetric,
    MetricPairs,
    PairedSample,
    SideOutcomes,
)
from harness.measuring.suite_verdicts import judge_runs

TRIALS = 100_000
MOST_TIMES = {"pass": 15.0, "score": 35.0}
REPEATS = 3


def outcomes(kind: str, epochs: int) -> list[PairedSample]:
    """Give outcomes of two runs, one trial in fifty of the candidate's errored."""
    chance = random.Random(epochs)

    def side(rate: float, errored: int) -> SideOutcomes:
        graded = epochs - errored
        if kind == "score":
            return SideOutcomes(sum(chance.random() for _ in range(graded)), graded, errored)
        return SideOutcomes(sum(chance.random() < rate for _ in range(graded)), graded, errored)

    rates = [chance.random() for _ in range(TRIALS // epochs)]
    return [
        PairedSample(f"s{n}", side(rate, 0), side(rate, int(n % 50 == 0)))
        for n, rate in enumerate(rates)
    ]


def read(samples: Sequence[PairedSample]) -> tuple[float, float]:
    """Add outcomes up: what is held against."""
    ordered = sorted(samples)
    before = sum(one.baseline.total / one.baseline.graded for one in ordered if one.baseline.graded)
    graded = (one for one in ordered if one.candidate.graded)
    return before, sum(one.candidate.total / one.candidate.graded for one in graded)


def seconds(of: Callable[[], object]) -> float:
    """Return the processor time of the fastest of some calls."""
    spent = []
    for _ in range(REPEATS):
        gc.collect()
        start = time.process_time()
        of()
        spent.append(time.process_time() - start)
    return min(spent)


def main() -> None:
    """Measure every kind, print it, and exit with 1 where one takes longer than is promised."""
    slow = False
    for kind, most in MOST_TIMES.items():
        metric = ComparedMetric(
            name="m", kind=kind, gating=True, margin=0.02, lowest=0.0, highest=1.0
        )
        for epochs in (1, 3):
            samples = outcomes(kind, epochs)
            pairs = MetricPairs(metric, samples)
            reference = seconds(lambda samples=samples: read(samples))
            judged = seconds(lambda pairs=pairs: judge_runs([[pairs]]))
            ratio = judged / reference
            slow |= ratio > most
            Console().print(
                f"{kind}, {epochs} epochs: {judged:.2f} s, {ratio:.1f} times the reading "
                f"(promised: {most:g})",
                highlight=False,
            )
    sys.exit(slow)


if __name__ == "__main__":
    main()
