"""Plays scenes whose truth is known and prints, as Markdown, how often each verdict comes.

    python simulate.py [--repeats N] [--seed N] [--cores N]

Exit 1 where a promise is not kept: REGRESSED at most 5 % of the time with nothing changed, at least
85 % with ten of a hundred samples broken, Wilson's coverage 94.5 to 96 %.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from simulating import scenes
from simulating.coverage import epochs_coverage, wilson_coverage
from simulating.made_up_runs import Scene, draw

from harness.measuring.power import verdict_chances
from harness.measuring.suite_verdicts import judge_runs
from harness.system.shown_shares import percent

MOST_FALSE_ALARMS = 0.05
LEAST_FOUND = 0.85
COVERAGE = (0.945, 0.96)
WORDS = ("regressed", "improved", "no_worse", "inconclusive")
SUITES = ((50, 0.05), (200, 0.05), (1000, 0.02), (2000, 0.02))
DROPS = {0.05: (0.0, 0.05, 0.1), 0.02: (0.0, 0.02, 0.05)}


def play(task: tuple[int, Scene, int, int]) -> tuple[Counter[str], float]:
    """Return how often each verdict came, and the share of intervals that hold the truth."""
    number, scene, repeats, seed = task
    rng = np.random.default_rng([seed, number])
    verdicts: Counter[str] = Counter()
    held = 0
    for _ in range(repeats):
        found = judge_runs([draw(scene, rng)], question=scene.question, says_power=False)[0]
        verdicts[found.verdict] += 1
        interval = found.metrics[0].difference
        held += interval.low <= scene.difference <= interval.high
    return verdicts, held / repeats


class Table:
    """Prints Markdown and keeps the promises that were not kept."""

    def __init__(self, pool: ProcessPoolExecutor, repeats: int, seed: int) -> None:
        self.broken: list[str] = []
        self._pool, self._repeats, self._seed, self._played = pool, repeats, seed, 0

    def title(self, text: str, columns: Sequence[str]) -> None:
        """Print a title and the head of a table."""
        print(f"\n### {text}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)

    def verdicts(self, title: str, of: list[Scene], **promised: float) -> None:
        """Play scenes and print how often each verdict came."""
        self.title(title, ["scene", "question", "epochs", *WORDS, "90 % interval holds D"])
        tasks = [(self._played + n, one, self._repeats, self._seed) for n, one in enumerate(of)]
        self._played += len(of)
        for scene, (found, held) in zip(of, self._pool.map(play, tasks), strict=True):
            shares = {word: found[word] / self._repeats for word in WORDS}
            numbers = [f"{share:.1%}" for share in shares.values()]
            truth = "-" if scene.shuffled or scene.outage else f"{held:.1%}"
            question = scene.question.replace("_", " ")
            cells = (scene.name, question, str(scene.epochs), *numbers, truth)
            print(f"| {' | '.join(cells)} |", flush=True)
            self.hold(scene.name, shares["regressed"], **promised)

    def hold(self, name: str, value: float, *, least: float = 0.0, most: float = 1.0) -> None:
        """Keep it in mind where a value is not within what is promised."""
        if not least <= value <= most:
            self.broken.append(f"{name}: {value:.4f} is not in {least} to {most}")


def main() -> int:
    """Play all scenes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    with ProcessPoolExecutor(options.cores) as pool:
        table = Table(pool, options.repeats, options.seed)
        table.verdicts("Nothing changed", scenes.unchanged(), most=MOST_FALSE_ALARMS)
        table.verdicts(
            "Nothing changed, several metrics", scenes.several_metrics(), most=MOST_FALSE_ALARMS
        )
        *usual, unsteady = scenes.broken("fixed_suite")
        table.verdicts("Ten of 100 samples fall from 90 % to 0", usual, least=LEAST_FOUND)
        table.verdicts("The same, where most of the others are flaky", [unsteady])
        table.verdicts("The same, asked of a population", scenes.broken("population"))
        table.verdicts("Every sample falls a little", scenes.slipping())
        table.verdicts("Samples move up as often as down", scenes.moved_about())
        table.verdicts("An outage, and nothing else", scenes.outages(), most=MOST_FALSE_ALARMS)
    print_coverage(table, options.repeats, options.seed)
    print_chances(table)
    print("\n".join(["", *table.broken]) if table.broken else "\nEvery promise is kept.")
    return 1 if table.broken else 0


def print_coverage(table: Table, repeats: int, seed: int) -> None:
    """Print how often the intervals of one run hold the truth."""
    table.title("Coverage of the 95 % interval of a pass rate", ["trials", "coverage"])
    for trials in (10, 20, 30, 50, 100, 300, 1000):
        covered = wilson_coverage(trials)
        print(f"| {trials} | {covered:.2%} |")
        table.hold(f"coverage at {trials}", covered, least=COVERAGE[0], most=COVERAGE[1])
    for samples, epochs in ((20, 2), (20, 5), (100, 3)):
        covered = epochs_coverage(samples, epochs, repeats, seed)
        print(f"| {samples} samples x {epochs} epochs | {covered:.1%} |")


def print_chances(table: Table) -> None:
    """Print how likely each verdict is at one epoch, exactly."""
    table.title(
        "Chance of each verdict at one epoch, 3 % of samples improving by themselves (exact)",
        ["samples", "margin", "true drop", *WORDS],
    )
    for pairs, margin in SUITES:
        for drop in DROPS[margin]:
            found = verdict_chances(pairs, margin=margin, drop=drop)
            shown = " | ".join(percent(getattr(found, word)).replace(" ", "") for word in WORDS)
            print(f"| {pairs} | {margin:.0%} | {drop:.0%} | {shown} |")


if __name__ == "__main__":
    sys.exit(main())
