"""Epochs of records: those they tell, and the repeats of a sample on a model in their order."""

from collections import Counter
from collections.abc import Hashable


class EpochNumbers:
    """Numbers the records of each sample on each model; some bytes a record, sample and model.

    The first pass over the records hears which epochs are told, so that after `begin_again` none
    of them is given to a record that repeats another, or that tells none. `most` is how often a
    sample is there on one model, at most.
    """

    def __init__(self) -> None:
        self._told: set[int] = set()
        self._met: set[int] = set()
        self._next: Counter[int] = Counter()
        self._records: Counter[int] = Counter()
        self.most = 0

    def begin_again(self) -> None:
        """Begin the next pass over the same records."""
        self._met, self._next, self._records = set(), Counter(), Counter()

    def number(self, sample: Hashable, model: str, told: int | None) -> tuple[int, bool]:
        """Return the epoch of a record, and whether it had to be another than it tells.

        What a record tells counts, unless an earlier record of the same sample and model tells the
        same. In the first pass other numbers may still change, but not which records get them.
        """
        pair = hash((sample, model))
        self._records[pair] += 1
        self.most = max(self.most, self._records[pair])
        if told is not None and self._is_first(pair, told):
            return told, False
        return self._next_free(pair, 0 if told is None else told + 1), told is not None

    def _is_first(self, pair: int, told: int) -> bool:
        key = hash((pair, told))
        if key in self._met:
            return False
        self._met.add(key)
        self._told.add(key)
        return True

    def _next_free(self, pair: int, least: int) -> int:
        # They only grow: so those that were given need not be noted one by one.
        epoch = max(self._next[pair], least)
        while hash((pair, epoch)) in self._told:
            epoch += 1
        self._next[pair] = epoch + 1
        return epoch
