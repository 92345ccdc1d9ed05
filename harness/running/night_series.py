"""The samples of one model over the nights: what of them is of one kind, and what stands out."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from harness.measuring.change_points import alike_sums, change_point
from harness.measuring.sample_changes import Change, Nights
from harness.storing.night_outcomes import NightRecord, SampleNight
from harness.types.nights import NightOfChange, SampleChange

_STEADY_SHARE = 0.9
_FEWEST_STEADY = 0.5
"""The share of the present samples that must be steady for a word on all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One model: its nights, oldest first, and its present samples.

    `present` is each sample as it ran last. `nights_of` has its trials of the same kind, (passes,
    failures) a night, (0, 0) where it did not run so; errors are neither.
    """

    model: str
    nights: Sequence[NightRecord]
    present: Mapping[str, SampleNight]
    nights_of: Mapping[str, Nights]


def series_of(model: str, nights: Sequence[NightRecord]) -> Series:
    """Gather the samples of a model over the nights on which it ran."""
    ran = [night for night in nights if night.models.get(model)]
    present = _present(model, ran)
    return Series(
        model=model,
        nights=ran,
        present=present,
        nights_of={name: _like(model, ran, name, now) for name, now in present.items()},
    )


def _present(model: str, nights: Sequence[NightRecord]) -> dict[str, SampleNight]:
    """Return the samples of the last whole night, and of those since, as they ran last."""
    usual = Counter(map(_selection, nights)).most_common(1)[0][0]
    present: dict[str, SampleNight] = {}
    for night in reversed(nights):
        for name, sample in night.models[model].items():
            present.setdefault(name, sample)
        if night.complete and _selection(night) == usual:
            break
    return {name: _judged(model, nights, name, now) for name, now in present.items()}


def _selection(night: NightRecord) -> bytes:
    return msgspec.json.encode(night.manifest.selection, order="sorted")


def _judged(model: str, nights: Sequence[NightRecord], name: str, now: SampleNight) -> SampleNight:
    """Return the sample with what it is judged by, known from an earlier night if not tonight."""
    if now.judged:
        return now
    earlier = (night.models[model].get(name) for night in reversed(nights))
    judged = (one.judged for one in earlier if one and one.judged and one.given == now.given)
    return replace(now, judged=next(judged, ""))


def _like(
    model: str, nights: Sequence[NightRecord], name: str, now: SampleNight
) -> list[tuple[int, int]]:
    found = (night.models[model].get(name) for night in nights)
    return [
        (one.passes, one.failures) if one is not None and one.is_like(now) else (0, 0)
        for one in found
    ]


def turns_of(series: Series, changes: Sequence[tuple[Change, bool]]) -> list[NightOfChange]:
    """Group changes of samples by night and direction, oldest night first.

    Each comes with whether its evidence is over all nights, or tonight's trials alone.
    """
    places = dict.fromkeys((change.night, change.fell) for change, _ in changes)
    return [
        _turn(
            series,
            place,
            [
                sample_change(series, change, is_told=is_told)
                for change, is_told in changes
                if (change.night, change.fell) == place
            ],
        )
        for place in sorted(places)
    ]


def _turn(
    series: Series, place: tuple[int, bool], samples: Sequence[SampleChange]
) -> NightOfChange:
    night, fell = place
    return NightOfChange(
        night=night + 1,
        run_id=series.nights[night].manifest.run_id,
        started_at=series.nights[night].manifest.started_at,
        fell=fell,
        samples=tuple(sorted(samples, key=lambda one: one.sample_id)),
        changes=tuple(changes_on(series, night)),
    )


def sample_change(series: Series, change: Change, *, is_told: bool = False) -> SampleChange:
    """Return a change of a sample with its trials on both sides, `is_told` by all of its nights."""
    nights = series.nights_of[change.sample_id]
    return SampleChange(
        sample_id=change.sample_id,
        before=_passes(nights[change.start : change.night]),
        after=_passes(nights[change.night : change.end]),
        bayes_factor=change.bayes_factor if is_told else None,
    )


def _passes(nights: Nights) -> tuple[int, int]:
    passes = sum(night[0] for night in nights)
    return passes, passes + sum(night[1] for night in nights)


def changes_on(series: Series, night: int) -> Iterator[str]:
    """Say what is not as on the night before: target, graders, dataset, epochs, commit."""
    if night == 0:
        return
    before, after = series.nights[night - 1].manifest, series.nights[night].manifest
    if before.drive_key != after.drive_key:
        yield "target"
    if (before.grader_keys, before.judging) != (after.grader_keys, after.judging):
        yield "graders"
    if before.dataset_sha256 != after.dataset_sha256:
        yield "dataset"
    if before.epochs != after.epochs:
        yield f"epochs {before.epochs} to {after.epochs}"
    yield from _versions(before.versions, after.versions)
    if before.git_commit != after.git_commit:
        yield f"commit {_commit(before.git_commit)} to {_commit(after.git_commit)}"


def _versions(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for name in sorted({*before, *after}):
        versions = [of.get(name, "none") for of in (before, after)]
        if versions[0] != versions[1]:
            yield f"{name} {versions[0]} to {versions[1]}"


def _commit(name: str | None) -> str:
    return (name or "none")[:10]


def whole_change(series: Series) -> NightOfChange | None:
    """Return the night since which the steady samples together pass more or less often.

    Steady are samples that ran on at least 90 % of the nights, and on which of them they did says
    nothing; None where they are less than half, or where the evidence is not more than ten times
    that for no change.
    """
    count = len(series.nights)
    steady = [
        nights
        for nights in series.nights_of.values()
        if sum(map(any, nights)) >= _STEADY_SHARE * count
    ]
    if not steady or len(steady) < _FEWEST_STEADY * len(series.nights_of):
        return None
    found = change_point(alike_sums(steady))
    if found is None or not found.is_shown:
        return None
    return _turn(series, (found.nights_before, found.fell), ())
