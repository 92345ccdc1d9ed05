"""The run that the nights of a suite are held against: found, read, and how old it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from harness.running.narrowed_runs import narrowing_of, narrowing_words, samples_of
from harness.running.run_addresses import PINNED, RunAddress, Wanted, find_baseline
from harness.storing.night_outcomes import NightRecord, read_night
from harness.types.errors import Fault, InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class NightBaseline:
    """The baseline of a suite's nights, None where there is none.

    `model` is the one that was named of it. `warning` says that a pinned run is gone, or took but a
    part of the samples, or nothing.
    """

    night: NightRecord | None = None
    model: str | None = None
    warning: str = ""

    @property
    def run_id(self) -> str | None:
        """Return the id of the run."""
        return self.night.manifest.run_id if self.night else None

    def days(self, now: datetime) -> float | None:
        """Return how many days old it is."""
        if self.night is None:
            return None
        return round((now - self.night.manifest.started_at) / timedelta(days=1), 2)

    def own_model(self, model: str) -> str:
        """Return the model of it for one of the nights': the named, the only one, or the same."""
        if self.model is not None:
            return self.model
        models = self.night.models if self.night else {}
        return next(iter(models)) if len(models) == 1 else model


def find_night_baseline(
    folder: Path, nights: Sequence[NightRecord], named: str | None, workspace: Path
) -> NightBaseline:
    """Find the baseline of a suite: one that is named, or the pinned one.

    It is one of the nights, or read from elsewhere; an exported file is unpacked into `workspace`.
    A pinned run that was deleted is warned of; one that is named has to be there.

    Raises:
        InputError: there is no run of that name.
        StoreError: it cannot be read.
    """
    address, wanted = RunAddress.read(named or PINNED), Wanted(suite=nights[-1].manifest.suite)
    unpacked = workspace / f"{len(list(workspace.iterdir()))}"
    try:
        place = find_baseline(address, folder, wanted, workspace=unpacked)
    except InputError as error:
        if named is not None:
            raise
        return NightBaseline(warning=f"the pinned baseline is not there any more: {error}")
    if place is None and named is not None:
        raise _no_baseline(named)
    if place is None:
        return NightBaseline()
    known = (one for one in nights if one.folder.resolve() == place.resolve())
    night = next(known, None) or read_night(place)
    return NightBaseline(night=night, model=address.model, warning=_of_part(night, nights[-1]))


def _of_part(baseline: NightRecord, tonight: NightRecord) -> str:
    """Say of a baseline that it took a part of the samples that the nights did not take alike."""
    ours, theirs = (samples_of(narrowing_of(one.manifest)) for one in (baseline, tonight))
    if not ours or ours == theirs:
        return ""
    return f"the baseline took a part of the samples: {narrowing_words(ours)}"


def _no_baseline(name: str) -> InputError:
    allowed = "a run, its name in the folder, or a file of `regrade baseline export`"
    return InputError([Fault(file=name, problem="no baseline is there", allowed=allowed)])
