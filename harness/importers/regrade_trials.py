"""Our own trials: lines as `trials.jsonl` of a run directory and `regrade convert` write them.

They are version 1 of Regrade's record of a trial. Its grades are made anew; those that another
tool once recorded stay.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from harness.types.grades import RECORDED, SKIPPED
from harness.types.imports import ForeignSource, Head, Imported
from harness.types.samples import Sample
from harness.types.trials import VERSION, Trial

_SIGNS = frozenset({"sample_id", "model", "epoch", "status", "trajectory", "grades", "keys"})


@dataclass(frozen=True, slots=True)
class RegradeTrials:
    """Trials of Regrade, one a line, as runs and `regrade convert` write them."""

    specification: ClassVar[str] = f"Regrade trial records, version {VERSION}"

    def claims(self, head: Head) -> bool:
        """Say whether the first record is a trial."""
        first = head.values[0] if head.values else None
        return isinstance(first, dict) and first.keys() >= _SIGNS

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return the conversation of each trial.

        Raises:
            ValueError: a record is no trial, or one of a later version.
        """
        for place, value in source.records():
            yield read_trial_record(value, place)


def read_trial_record(record: Any, place: str) -> Imported:
    """Read one record.

    Raises:
        ValueError: it is no trial, or one of a later version; the text begins with the place.
    """
    try:
        trial = msgspec.convert(record, Trial)
    except msgspec.MsgspecError as error:
        raise ValueError(f"{place}: the record is no trial: {error}") from error
    if trial.v > VERSION:
        raise ValueError(
            f"{place}: the trial is of version {trial.v}; this Regrade reads up to {VERSION}"
        )
    skipped = trial.grades.get(SKIPPED)
    return Imported(
        place=place,
        trajectory=trial.trajectory,
        sample_id=trial.sample_id,
        model=trial.model,
        epoch=trial.epoch,
        status=trial.status,
        failure=trial.error,
        skipped=str(skipped.details.get("value", skipped.evidence)) if skipped else None,
        seconds=trial.timing.target_seconds,
        outcomes=_outcomes(trial),
        usage=trial.usage,
        snapshots=trial.snapshots,
        sample=trial.sample if isinstance(trial.sample, Sample) else None,
    )


def _outcomes(trial: Trial) -> dict[str, Any]:
    return {
        name.removeprefix(RECORDED): grade.details["value"]
        for name, grade in trial.grades.items()
        if name.startswith(RECORDED) and name != SKIPPED and "value" in grade.details
    }
