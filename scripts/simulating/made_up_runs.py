"""Runs whose truth is known: each sample has a true pass rate before and after."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.measuring.paired_outcomes import (
    ComparedMetric,
    MetricPairs,
    PairedSample,
    SideOutcomes,
)

MARGIN = 0.05


@dataclass(frozen=True)
class Scene:
    """Two versions of an agent on a suite: true pass rates, epochs, and how it is compared.

    `outage` is the share of the candidate's trials that end in errors, `metrics` how many gating
    metrics there are, each with outcomes of its own. With `shuffled` each sample has its two rates
    in either order, by chance.
    """

    name: str
    before: tuple[float, ...]
    after: tuple[float, ...]
    epochs: int
    question: str = "fixed_suite"
    metrics: int = 1
    outage: float = 0.0
    shuffled: bool = False

    @property
    def difference(self) -> float:
        """Return the true difference of the pass rates."""
        return float(np.mean(self.after) - np.mean(self.before))


def draw(scene: Scene, rng: np.random.Generator) -> list[MetricPairs]:
    """Return what one pair of runs of a scene gives: by metric, sample by sample."""
    before, after = np.array(scene.before), np.array(scene.after)
    if scene.shuffled:
        swap = rng.random(len(before)) < 1 / 2
        before, after = np.where(swap, after, before), np.where(swap, before, after)
    return [_metric(f"m{n}", scene, (before, after), rng) for n in range(scene.metrics)]


def _metric(
    name: str, scene: Scene, rates: Sequence[np.ndarray], rng: np.random.Generator
) -> MetricPairs:
    baseline = rng.binomial(scene.epochs, rates[0]).tolist()
    errors = rng.binomial(scene.epochs, scene.outage, size=len(rates[1]))
    candidate = rng.binomial(scene.epochs - errors, rates[1]).tolist()
    samples = [
        PairedSample(
            str(place),
            SideOutcomes(before, scene.epochs),
            SideOutcomes(after, scene.epochs - errored, errored),
        )
        for place, (before, after, errored) in enumerate(
            zip(baseline, candidate, errors.tolist(), strict=True)
        )
    ]
    return MetricPairs(ComparedMetric(name=name, gating=True, margin=MARGIN), samples)
