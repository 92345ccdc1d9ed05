"""The trials of one model by the slices that their samples are in, some bytes each."""

from array import array
from collections.abc import Iterator, Mapping, Sequence

from harness.types.trials import Slices

MOST_VALUES = 100
"""A name with more values than this tells single samples apart, and makes no slices."""


class SliceRows:
    """Gathers the rows (indices from 0, ascending) of each value of each name."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, array[int]]] = {}
        self.overflowing: dict[str, None] = {}
        """The names that have too many values."""

    def add(self, row: int, slices: Slices) -> None:
        """Take the values of one trial's sample."""
        for name, values in slices.items():
            if name in self.overflowing:
                continue
            found = self._rows.setdefault(name, {})
            for value in values:
                rows = found.get(value)
                if rows is None:
                    rows = found[value] = array("I")
                rows.append(row)
            if len(found) > MOST_VALUES:
                self._rows[name] = {}
                self.overflowing[name] = None

    def __iter__(self) -> Iterator[tuple[str, Mapping[str, Sequence[int]]]]:
        """Return the names that any sample has, each with its rows by value, in order."""
        for name, values in self._rows.items():
            if values:
                yield name, dict(sorted(values.items()))

    def of(self, wanted: Mapping[str, str]) -> Sequence[int]:
        """Return the rows that have all of these values; none where nothing is wanted."""
        found = [self._rows.get(name, {}).get(value, ()) for name, value in wanted.items()]
        if len(found) == 1:
            return found[0]
        return sorted(set.intersection(*map(set, found))) if found else ()
