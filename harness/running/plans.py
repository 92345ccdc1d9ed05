"""The plan of a run: samples x models x epochs, as a stream."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from harness.system.hashing import sha256_of
from harness.types.samples import Sample


class PlannedTrial(msgspec.Struct, frozen=True):
    """One trial to be made; `index` is its place in the plan, from 0."""

    index: int
    sample: Sample
    sample_key: str
    model: str
    epoch: int


def plan(samples: Iterable[Sample], models: Sequence[str], epochs: int) -> Iterator[PlannedTrial]:
    """Return the trials sample by sample, so that models and epochs of one lie close in time."""
    index = 0
    for sample in samples:
        key = sample_key(sample)
        for epoch in range(epochs):
            for model in models:
                yield PlannedTrial(index, sample, key, model, epoch)
                index += 1


def sample_key(sample: Sample) -> str:
    """Hash what the agent is given of a sample: a changed question means driving again."""
    given = (sample.input, sample.history, sample.agent_args, sample.extra_vars)
    return sha256_of(*given, sample.sessions) if sample.sessions else sha256_of(*given)
