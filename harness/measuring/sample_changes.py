"""On which night which samples changed, among many of which most did not."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.measuring.change_points import SHOWN_ABOVE, change_point, splits

ALPHA = 0.05
"""Of the samples that are said to have changed, at most this share did not."""

_AS_LIKELY = math.log(10)
"""A night whose evidence is less than ten times smaller may be the one as well."""

Nights = Sequence[tuple[int, int]]
"""One sample over the nights, oldest first: (passes, failures), (0, 0) where it did not run."""


class Change(NamedTuple):
    """A change of one sample: the first night (from 0) after it, and the rates around it.

    `start` is the night after the change before, `end` the one before which the next one comes.
    """

    sample_id: str
    night: int
    fell: bool
    bayes_factor: float
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A change, and the nights that may as well be the one, in its direction."""

    change: Change
    likely: frozenset[int]


def sample_changes(samples: Mapping[str, Nights]) -> list[Change]:
    """Find the changes of pass rate of many samples, by night and then by sample.

    A sample has changed where the Bayes factor of one change against none is more than 10 and
    passes the e-BH procedure over all samples: sorted downwards, the k-th of m counts if it is at
    least m / (0.05 k). Before and after a change, others of that strength are looked for. Where
    several nights are about as likely, the one on which most samples changed is taken, for one
    cause mostly changes many. Source: Wang and Ramdas (2022), J. R. Stat. Soc. B 84, 822-852.
    """
    factors = {
        name: found.bayes_factor
        for name, nights in samples.items()
        if _is_mixed(nights) and (found := change_point(nights)) is not None
    }
    least = _least_factor(factors.values(), len(samples))
    candidates = [
        one
        for name, factor in factors.items()
        if factor >= least
        for one in _changes_of(name, samples[name], least)
    ]
    return sorted(_settled(candidates), key=lambda one: (one.night, one.sample_id))


def _is_mixed(nights: Nights) -> bool:
    return any(night[0] for night in nights) and any(night[1] for night in nights)


def _least_factor(factors: Iterable[float], count: int) -> float:
    """Return the least Bayes factor that counts, among so many samples."""
    least = math.inf
    for rank, factor in enumerate(sorted(factors, reverse=True), start=1):
        if factor >= count / (ALPHA * rank):
            least = factor
    return max(least, SHOWN_ABOVE)


def _changes_of(name: str, nights: Nights, least: float) -> list[_Candidate]:
    """Find the changes of one sample, each looked for again between its neighbours."""
    places = [0, *_places(nights, (0, len(nights)), least), len(nights)]
    windows = zip(places, places[2:], strict=False)
    found = [_between(name, nights, window) for window in windows]
    return [one for one in found if one is not None and one.change.bayes_factor >= least]


def _places(nights: Nights, part: tuple[int, int], least: float) -> list[int]:
    """Find the nights on which a part of them changes: its best one, then those on both sides."""
    start, end = part
    inside = nights[start:end]
    found = change_point(inside) if _is_mixed(inside) else None
    if found is None or found.bayes_factor < least:
        return []
    night = start + found.nights_before
    before, after = (start, night), (night, end)
    return [*_places(nights, before, least), night, *_places(nights, after, least)]


def _between(name: str, nights: Nights, window: tuple[int, int]) -> _Candidate | None:
    start, end = window
    inside = nights[start:end]
    found = change_point(inside)
    if found is None:
        return None
    scores = [one for one in splits(inside) if one.fell == found.fell]
    top = max(one.log_factor for one in scores)
    likely = (one.nights_before for one in scores if one.log_factor > top - _AS_LIKELY)
    night, factor = start + found.nights_before, found.bayes_factor
    change = Change(name, night, found.fell, factor, start, end)
    return _Candidate(change, frozenset(start + place for place in likely))


def _settled(candidates: Sequence[_Candidate]) -> list[Change]:
    """Give every change its night: of those that may be it, the one on which most changed."""
    left, settled = list(candidates), list[Change]()
    while left:
        votes = Counter((night, one.change.fell) for one in left for night in one.likely)
        best = Counter((one.change.night, one.change.fell) for one in left)
        night, fell = max(votes, key=lambda place: (votes[place], best[place], place[0]))
        joins = [one.change.fell == fell and night in one.likely for one in left]
        settled += [
            one.change._replace(night=night)
            for one, is_in in zip(left, joins, strict=True)
            if is_in
        ]
        left = [one for one, is_in in zip(left, joins, strict=True) if not is_in]
    return settled
