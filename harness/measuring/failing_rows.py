"""Samples that passed in one row and have failed in one row since: turned, and not flaky."""

from collections.abc import Collection
from itertools import pairwise
from typing import NamedTuple

from harness.measuring.flakiness import ALPHA, SampleNights, chance_of_so_few
from harness.measuring.sample_changes import Nights


class FailingRow(NamedTuple):
    """The night (from 0) since which a sample does worse; (passes, trials) before it and since."""

    night: int
    before: tuple[int, int]
    since: tuple[int, int]


def turned_on(nights: Nights) -> int | None:
    """Return the night (from 0) since which every trial ends otherwise than every one before.

    None where all end alike, where outcomes turn more than once, or where one night has both: what
    passes and fails with nothing changed.
    """
    ran = [(place, night) for place, night in enumerate(nights) if any(night)]
    if any(passes and failures for _, (passes, failures) in ran):
        return None
    turns = [after[0] for before, after in pairwise(ran) if bool(before[1][0]) != bool(after[1][0])]
    return turns[0] if len(turns) == 1 else None


def failing_row(nights: Nights, common: Collection[int]) -> FailingRow | None:
    """Return the row of failures that speaks for a regression of a sample, on an alarming night.

    That is one that began after nothing but passes, or before which the sample passed so often that
    as few passes have a chance of at most 5 %: since its last pass, or since one of the `common`
    nights (from 0) on which samples together began to fail.
    """
    turned = turned_on(nights)
    if turned is not None and nights[turned][1]:
        return _row(nights, turned)
    last_pass = max((place for place, night in enumerate(nights) if night[0]), default=-1)
    rows = [_row(nights, place) for place in sorted({last_pass + 1, *common})]
    return next((row for row in rows if _is_unlikely(row)), None)


def _row(nights: Nights, night: int) -> FailingRow:
    before, since = (
        (sum(one[0] for one in part), sum(map(sum, part)))
        for part in (nights[:night], nights[night:])
    )
    return FailingRow(night, before, since)


def _is_unlikely(row: FailingRow) -> bool:
    if not row.before[0] or not row.since[1]:
        return False
    return chance_of_so_few(SampleNights("", *row.before, *row.since)) <= ALPHA
