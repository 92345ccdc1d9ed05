"""The runs of a folder that are nights: those that drove the agent, oldest first, by suite."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.storing.manifests import read_manifest
from harness.storing.night_outcomes import NightRecord, read_night
from harness.storing.run_folders import TRIALS
from harness.storing.run_locks import holder_of
from harness.types.errors import Fault, InputError, StoreError
from harness.types.nights import LeftOut


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundNights:
    """Nights by suite, oldest first, and the runs that are none."""

    suites: dict[str, list[NightRecord]]
    left_out: tuple[LeftOut, ...]


def find_nights(folder: Path, suite: str | None = None, nights: int | None = None) -> FoundNights:
    """Find the nights in a folder of runs: of one suite, if it is named, and the last so many.

    Left out are runs that only graded stored trajectories again, for they hold no new trial, those
    that another process still writes, and those that cannot be read.

    Raises:
        InputError: there is no such folder, or no run in it.
    """
    found: dict[str, list[NightRecord]] = defaultdict(list)
    left_out: list[LeftOut] = []
    for path in _run_folders(folder):
        night = _night(path, suite)
        if isinstance(night, LeftOut):
            left_out.append(night)
        elif night is not None:
            found[night.manifest.suite].append(night)
    for each in found.values():
        each.sort(key=lambda one: (one.manifest.started_at, one.manifest.run_id))
    if not found:
        raise _nothing(folder, suite, left_out)
    kept = {name: each[-nights:] if nights else each for name, each in found.items()}
    return FoundNights(suites=kept, left_out=tuple(left_out))


def _run_folders(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        problem = "there is no such folder"
        raise InputError([Fault(file=str(folder), problem=problem, allowed="a folder of runs")])
    for path in sorted(folder.glob(f"*/{TRIALS}")):
        if not path.parent.name.startswith("."):
            yield path.parent


def _night(path: Path, suite: str | None) -> NightRecord | LeftOut | None:
    """Read a run as a night; None for one of another suite."""
    try:
        manifest = read_manifest(path)
        if suite is not None and manifest.suite != suite:
            return None
        if isinstance(manifest.graded_from, str):
            return LeftOut(run=path.name, reason=f"it only graded {manifest.graded_from} again")
        if holder := holder_of(path):
            return LeftOut(run=path.name, reason=f"it is still under way: {holder}")
        night = read_night(path, manifest)
    except StoreError as error:
        return LeftOut(run=path.name, reason=error.line)
    if not any(night.models.values()):
        return LeftOut(run=path.name, reason="it holds no trial")
    return night


def _nothing(folder: Path, suite: str | None, left_out: Sequence[LeftOut]) -> InputError:
    of = f" of the suite {suite!r}" if suite else ""
    whys = "; ".join(f"{one.run}: {one.reason}" for one in left_out[:3])
    return InputError(
        [Fault(file=str(folder), problem=f"no night{of} in this folder", allowed=whys)]
    )
