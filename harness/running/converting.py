"""Records of any tool written as our own: one trial a line, without grades of ours."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from harness.running.foreign_records import recorded_elsewhere
from harness.running.foreign_trials import grades_brought
from harness.running.hidden_trials import trial_without
from harness.running.output_places import refuse_overwriting, refuse_source
from harness.running.record_reading import Records
from harness.running.recorded_trials import Recorded, recorded_run
from harness.storing.trial_log import encode_line
from harness.system.files import whole_file
from harness.system.redaction import known_secrets
from harness.types.errors import Fault, InputError
from harness.types.trials import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """How many conversations were written, what they were, and what there is to know of them."""

    count: int
    format: str
    warnings: tuple[str, ...]


def convert_records(source: Path | Records, out: Path) -> Converted:
    """Write the conversations of a run directory, or of records of another tool, as trials.

    What a record says of its own result stays, as grades that decide nothing. The file appears
    whole, or not at all.

    Raises:
        InputError: the records cannot be used, or the file cannot be written: it is there already,
            or lies inside the source.
        StoreError: the run cannot be read.
    """
    refuse_source(out, source if isinstance(source, Path) else source.path)
    refuse_overwriting(out)
    recorded = (
        recorded_run(source) if isinstance(source, Path) else recorded_elsewhere(None, source)
    )
    try:
        with whole_file(out) as draft, draft.open("wb") as file:
            count = sum(bool(file.write(encode_line(trial))) for trial in _trials(recorded))
    except OSError as error:
        problem = f"cannot be written: {error.strerror or type(error).__name__}"
        raise InputError([Fault(file=str(out), problem=problem)]) from error
    origin = recorded.source
    named = "regrade" if isinstance(origin, str) or origin is None else origin.format
    return Converted(count=count, format=named, warnings=tuple(recorded.warnings))


def _trials(recorded: Recorded) -> Iterator[Trial]:
    # Records of other tools may hold keys that this machine knows.
    secrets = known_secrets()
    return (trial_without(secrets, trial) for trial in _all_trials(recorded))


def _all_trials(recorded: Recorded) -> Iterator[Trial]:
    if recorded.pairs is not None:
        yield from (trial for _, trial in recorded.pairs())
        return
    for trial in recorded.trials:
        was_driven = trial.status == "grading_error"
        yield msgspec.structs.replace(
            trial,
            status="completed" if was_driven else trial.status,
            passed=None,
            score=None,
            grades=grades_brought(trial),
            error=None if was_driven else trial.error,
        )
