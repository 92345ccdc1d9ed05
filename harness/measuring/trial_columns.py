"""Values by trial, a few bytes each, and what is made of them sample by sample."""

import math
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from harness.system.numbers import reaches

Rows = Sequence[int]
"""Trials of one model by their index (from 0), ascending."""

_MISSING = -1
"""Stands for no value, where all values are at least 0."""


class TrialColumn:
    """One value of each trial that has it, at least 0; a trial without a value may hold a place.

    `width` is `d` for numbers, `b` for whole numbers below 128. It takes eight bytes a trial or
    one, and four more where a trial before has no place.
    """

    def __init__(self, width: Literal["d", "b"] = "d") -> None:
        self._values: array[float] = array(width)
        self._rows: array[int] | None = None

    def add(self, row: int, value: float | None) -> None:
        """Take the value of a trial; rows come in ascending order."""
        values = self._values
        if self._rows is not None:
            self._rows.append(row)
        elif row != len(values):
            self._rows = array("I", range(len(values)))
            self._rows.append(row)
        values.append(_MISSING if value is None else value)

    def pick(self, rows: Rows | None) -> tuple[Rows, Sequence[float]]:
        """Return the rows that have a place, and their values; of those in `rows`, or of all."""
        values = self._values
        if rows is None:
            return self._rows or range(len(values)), values
        if self._rows is None:
            # Rows ascend, and what is missing is missing at the end.
            rows = rows[: bisect_left(rows, len(values))]
            return rows, [values[row] for row in rows]
        places = [place for row in rows if (place := self._place(row)) is not None]
        return [self._rows[place] for place in places], [values[place] for place in places]

    def _place(self, row: int) -> int | None:
        known = self._rows or ()
        place = bisect_left(known, row)
        return place if place < len(known) and known[place] == row else None


@dataclass(frozen=True, slots=True)
class Values:
    """The values of some trials: of those in `rows`, or of all.

    `samples` holds the number of each trial's sample by row; None where each has one trial.
    """

    column: TrialColumn
    samples: Sequence[int] | None
    rows: Rows | None = None

    def __len__(self) -> int:
        """Count the trials."""
        return len(self.column.pick(self.rows)[0])

    def each(self, *, worst: float = 0.0) -> Sequence[float]:
        """Return the value of every trial, the worst one for what could not be graded."""
        return self._filled(worst)[1]

    def means(self, *, worst: float = 0.0) -> "array[float]":
        """Return the mean of every sample over its epochs, in ascending order."""
        rows, values = self._filled(worst)
        if self.samples is None:
            return array("d", sorted(values))
        groups = _grouped(map(self.samples.__getitem__, rows), values)
        return array("d", sorted(math.fsum(each) / len(each) for each in groups))

    def passes(
        self, *, worst: float = 0.0, reaching: float | None = None
    ) -> Counter[tuple[int, int]]:
        """Count the samples by how many of their trials passed, of how many.

        Values are 0 and 1; with `reaching`, they pass that reach that bound.
        """
        rows, values = self._filled(worst)
        if reaching is not None:
            values = [float(reaches(value, reaching)) for value in values]
        if self.samples is None:
            return Counter({(int(value), 1): count for value, count in Counter(values).items()})
        numbers = map(self.samples.__getitem__, rows)
        found: dict[int, list[int]] = {}
        # A sample has one or two kinds of results, and counting them is quick.
        for (number, value), count in Counter(zip(numbers, values, strict=True)).items():
            pair = found.setdefault(number, [0, 0])
            pair[0] += int(value) * count
            pair[1] += count
        return Counter((passed, count) for passed, count in found.values())

    def _filled(self, worst: float) -> tuple[Rows, Sequence[float]]:
        """Return the rows with their values, the worst one for what could not be graded."""
        rows, values = self.column.pick(self.rows)
        if not values.count(_MISSING):
            return rows, values
        return rows, [worst if value == _MISSING else value for value in values]


def _grouped(numbers: Iterable[int], values: Iterable[float]) -> Iterable[Sequence[float]]:
    """Return the values of each sample."""
    groups: defaultdict[int, list[float]] = defaultdict(list)
    for number, value in zip(numbers, values, strict=True):
        groups[number].append(value)
    return groups.values()
