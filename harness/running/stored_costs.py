"""What the trials that a run holds already have cost, one by one, for a ledger that goes on."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from harness.storing.log_lines import decoded_lines
from harness.storing.run_folders import TRIALS
from harness.types.trajectories import Step, Usage
from harness.types.trials import Failure


class PastTrial(NamedTuple):
    """A trial that was driven before: what each attempt used, each reply of the last, each judge.

    `drive` is the hash of its target; `is_driven` says that its last attempt came to its end.
    """

    model: str
    drive: str
    attempts: tuple[Usage, ...]
    replies: tuple[Usage, ...]
    judged: tuple[Usage, ...]
    is_driven: bool


class _Attempt(msgspec.Struct):
    usage: Usage = Usage()
    error: Failure | None = None


class _Turn(msgspec.Struct):
    steps: tuple[Step, ...] = ()


class _Trajectory(msgspec.Struct):
    turns: tuple[_Turn, ...] = ()


class _Grade(msgspec.Struct):
    usage: Usage | None = None


class _Keys(msgspec.Struct):
    drive: str


class _Timing(msgspec.Struct):
    target_seconds: float = 0.0


class _Line(msgspec.Struct):
    sample_id: str
    model: str
    epoch: int
    attempts: tuple[_Attempt, ...]
    trajectory: _Trajectory
    grades: dict[str, _Grade]
    keys: _Keys
    timing: _Timing


_lines = msgspec.json.Decoder(_Line)


def past_trials(folder: Path) -> Iterator[PastTrial]:
    """Read what the trials of a log have cost, interrupted and replaced ones included.

    One that was only graded again has several lines of one drive, which is told once.

    Raises:
        StoreError: the log cannot be read.
    """
    seen = set[int]()
    for _, _, line in decoded_lines(folder / TRIALS, _lines, lambda _: None):
        drive = hash((line.sample_id, line.model, line.epoch, line.timing.target_seconds))
        yield _past(line, is_told=drive in seen)
        seen.add(drive)


def _past(line: _Line, *, is_told: bool) -> PastTrial:
    attempts = () if is_told else line.attempts
    turns = () if is_told else line.trajectory.turns
    return PastTrial(
        line.model,
        line.keys.drive,
        attempts=tuple(attempt.usage for attempt in attempts),
        replies=tuple(step.usage for turn in turns for step in turn.steps),
        judged=tuple(grade.usage for grade in line.grades.values() if grade.usage is not None),
        is_driven=bool(attempts) and attempts[-1].error is None,
    )
