"""Epochs of records that tell none: the repeats of a sample on a model, in their order."""

from collections import Counter
from collections.abc import Hashable


class EpochNumbers:
    """Numbers the repeats of each sample on each model; some bytes a sample and model."""

    def __init__(self) -> None:
        self._repeats: Counter[int] = Counter()
        self._taken: set[int] = set()
        self._any_untold = False

    def number(self, sample: Hashable, model: str, told: int | None) -> tuple[int, bool]:
        """Return the epoch of a record, and whether it had to be another than it tells.

        What a record tells counts, unless an earlier record of the same sample and model has it.
        """
        pair = hash((sample, model))
        before = self._repeats[pair]
        self._repeats[pair] = before + 1
        if told is not None and self._is_free(pair, told, before):
            self._taken.add(hash((pair, told)))
            return told, False
        self._any_untold = True
        epoch = before
        while hash((pair, epoch)) in self._taken:
            epoch += 1
        if epoch != before:
            self._taken.add(hash((pair, epoch)))
        return epoch, told is not None

    def _is_free(self, pair: int, told: int, before: int) -> bool:
        # Numbers that follow from the count alone are not noted one by one: they are below it.
        is_counted = self._any_untold and told < before
        return not is_counted and hash((pair, told)) not in self._taken

    @property
    def most(self) -> int:
        """Return how often a sample is there on one model, at most."""
        return max(self._repeats.values(), default=0)
