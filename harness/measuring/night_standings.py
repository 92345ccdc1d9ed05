"""How every sample stands tonight, with what changed on earlier nights taken into account."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from harness.measuring.failing_rows import turned_on
from harness.measuring.flakiness import SampleNights, standings
from harness.measuring.sample_changes import Change, Nights
from harness.types.sample_states import SampleStanding


@dataclass(frozen=True, slots=True)
class Standing:
    """How a sample stands, and the change that it stands so since, where there was one.

    That of an unsettled one is where it turned, with a Bayes factor of 0: too few trials show it.
    """

    standing: SampleStanding
    change: Change | None = None


def night_standings(
    samples: Mapping[str, Nights], changes: Iterable[Change], accepted: int = 0
) -> list[Standing]:
    """Say of every sample how it stands on the last of its nights, in the order given.

    `changes` are those of `sample_changes`. A sample is held against its own nights since it last
    changed. One that changed on the night `accepted` (from 0; the baseline's) or before is taken as
    it is now; one that changed later has regressed, or is fixed, until tonight says otherwise. One
    that would be flaky, but has turned only once, is unsettled: nothing shows that it passes and
    fails with nothing changed. Every sample has as many nights.
    """
    last = {change.sample_id: change for change in changes}
    nights = [_tonight(name, of, last.get(name)) for name, of in samples.items()]
    found = [_standing(one, last.get(one.sample_id), accepted) for one in standings(nights)]
    return [_settled(one, samples[one.standing.sample_id], last) for one in found]


def _settled(one: Standing, nights: Nights, last: Mapping[str, Change]) -> Standing:
    """Call a sample unsettled that turned but once since it last changed."""
    if one.standing.state != "flaky":
        return one
    change = last.get(one.standing.sample_id)
    start = change.night if change is not None else 0
    turned = turned_on(nights[start:])
    if turned is None:
        return one
    night = start + turned
    at = Change(one.standing.sample_id, night, bool(nights[night][1]), 0.0, start, len(nights))
    return Standing(replace(one.standing, state="unsettled"), at)


def _tonight(name: str, nights: Nights, change: Change | None) -> SampleNights:
    """Hold the last night against those since the change; against all before, if it is tonight."""
    tonight = len(nights) - 1
    start = 0
    if change is not None:
        start = change.start if change.night == tonight else change.night
    earlier = _sums(nights[start:tonight])
    passes, failures = nights[tonight] if nights else (0, 0)
    return SampleNights(name, earlier[0], sum(earlier), passes, passes + failures)


def _sums(nights: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return sum(night[0] for night in nights), sum(night[1] for night in nights)


def _standing(now: SampleStanding, change: Change | None, accepted: int) -> Standing:
    if change is None or change.night <= accepted:
        return Standing(now)
    if now.state in {"regressed", "fixed"}:
        is_same = (now.state == "regressed") == change.fell
        return Standing(now, change if is_same else None)
    state = "regressed" if change.fell else "fixed"
    return Standing(replace(now, state=state), change)
