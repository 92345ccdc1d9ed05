"""The runs of a folder that are nights: those that drove the agent, oldest first, by suite."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec

from harness.running.narrowed_runs import narrowing_of, narrowing_words, samples_of
from harness.storing.manifests import Manifest, read_manifest
from harness.storing.night_outcomes import NightRecord, read_night
from harness.storing.run_folders import TRIALS, stamp
from harness.storing.run_locks import holder_of
from harness.storing.run_order import RunOrder
from harness.types.errors import Fault, InputError, StoreError
from harness.types.nights import LeftOut

_encode = msgspec.json.Encoder(order="sorted").encode


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundNights:
    """Nights by suite, oldest first, and the runs that are none."""

    suites: dict[str, list[NightRecord]]
    left_out: tuple[LeftOut, ...]


def find_nights(folder: Path, suite: str | None = None, nights: int | None = None) -> FoundNights:
    """Find the nights in a folder of runs: of one suite, if it is named, and the last so many.

    Left out are runs that only graded stored trajectories again, for they hold no new trial, those
    that another process still writes, those that cannot be read, and those that took a part of the
    samples: of a suite of which no run took all, those that took another part than most did.

    Raises:
        InputError: there is no such folder, or no night in it.
    """
    runs: dict[str, list[_Run]] = defaultdict(list)
    left_out: list[LeftOut] = []
    for path in _run_folders(folder):
        run = _run(path)
        if isinstance(run, LeftOut):
            left_out.append(run)
        elif suite in {None, run.manifest.suite}:
            runs[run.manifest.suite].append(run)
    found: dict[str, list[NightRecord]] = {}
    order = RunOrder(folder)
    for name, every in runs.items():
        of_suite = _of_usual_samples(every, left_out)
        of_suite.sort(key=lambda one: order.of(one.folder, one.began))
        read = [_night(one) for one in of_suite[-nights if nights else 0 :]]
        left_out += [one for one in read if isinstance(one, LeftOut)]
        if kept := [one for one in read if isinstance(one, NightRecord)]:
            found[name] = kept
    if not found:
        raise _nothing(folder, suite, left_out)
    return FoundNights(suites=found, left_out=tuple(sorted(left_out, key=lambda one: one.run)))


class _Run(NamedTuple):
    folder: Path
    manifest: Manifest

    @property
    def began(self) -> str:
        """Return when it began, as names of runs tell it."""
        return f"{stamp(self.manifest.started_at)}-{self.manifest.run_id}"


def _of_usual_samples(runs: Sequence[_Run], left_out: list[LeftOut]) -> list[_Run]:
    """Return the runs that took all samples, or the part that most took; tell of the others."""
    parts = [samples_of(narrowing_of(one.manifest)) for one in runs]
    marks = [_encode(part) for part in parts]
    whole = _encode({})
    usual = whole if whole in marks else Counter(marks).most_common(1)[0][0]
    for run, part, mark in zip(runs, parts, marks, strict=True):
        if mark != usual:
            reason = f"it took a part of the samples: {narrowing_words(part)}"
            left_out.append(LeftOut(run=run.folder.name, reason=reason))
    return [run for run, mark in zip(runs, marks, strict=True) if mark == usual]


def _run_folders(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        problem = "there is no such folder"
        raise InputError([Fault(file=str(folder), problem=problem, allowed="a folder of runs")])
    for path in sorted(folder.glob(f"*/{TRIALS}")):
        if not path.parent.name.startswith("."):
            yield path.parent


def _run(path: Path) -> _Run | LeftOut:
    """Return a run that may be a night, its outcomes not read yet."""
    try:
        manifest = read_manifest(path)
        holder = holder_of(path)
    except StoreError as error:
        return LeftOut(run=path.name, reason=error.line)
    if isinstance(manifest.graded_from, str):
        return LeftOut(run=path.name, reason=f"it only graded {manifest.graded_from} again")
    if holder:
        return LeftOut(run=path.name, reason=f"it is still under way: {holder}")
    return _Run(path, manifest)


def _night(run: _Run) -> NightRecord | LeftOut:
    try:
        night = read_night(run.folder, run.manifest)
    except StoreError as error:
        return LeftOut(run=run.folder.name, reason=error.line)
    if not any(night.models.values()):
        return LeftOut(run=run.folder.name, reason="it holds no trial")
    return night


def _nothing(folder: Path, suite: str | None, left_out: Sequence[LeftOut]) -> InputError:
    of = f" of the suite {suite!r}" if suite else ""
    whys = "; ".join(f"{one.run}: {one.reason}" for one in left_out[:3])
    return InputError(
        [Fault(file=str(folder), problem=f"no night{of} in this folder", allowed=whys)]
    )
