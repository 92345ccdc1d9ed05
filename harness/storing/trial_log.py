"""The log of a run: `trials.jsonl`, one line a trial, and `outcomes.jsonl`, its short form."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import msgspec

from harness.storing.log_lines import Note, decoded_lines
from harness.storing.outcome_seals import sealed
from harness.storing.run_folders import OUTCOMES, TRIALS
from harness.system.disk_syncing import DiskSync, sync, sync_folders
from harness.system.json_values import storable_json
from harness.types.errors import StoreError
from harness.types.events import ToolCall
from harness.types.trajectories import Trajectory, Usage
from harness.types.trials import VERSION, Outcome, ShortGrade, Trial

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Trial)


def outcome_of(trial: Trial) -> Outcome:
    """Return the short form of a trial."""
    steps, calls = _counts(trial.trajectory)
    grades, keys, used = _graded(trial)
    return Outcome(
        sample_id=trial.sample_id,
        model=trial.model,
        epoch=trial.epoch,
        status=trial.status,
        passed=trial.passed,
        score=trial.score,
        seconds=trial.timing.target_seconds,
        usage=trial.usage,
        judge_usage=sum(used, Usage()) if used else None,
        grades=grades,
        sample_key=short_key(trial.keys.sample),
        grade_keys=keys,
        steps=steps or None,
        tool_calls=calls,
        error_code=trial.error.code if trial.error else None,
        slices={} if trial.slices is msgspec.UNSET else trial.slices,
        revision=0 if trial.revision is msgspec.UNSET else trial.revision,
    )


def _counts(trajectory: Trajectory) -> tuple[int, int]:
    """Count the steps and the calls of tools."""
    # Loops, for every trial of a run is counted.
    steps = calls = 0
    for turn in trajectory.turns:
        steps += len(turn.steps)
        for event in turn.events:
            if type(event) is ToolCall:
                calls += 1
    return steps, calls


def short_key(key: str) -> str:
    """Return the first 16 hex digits of a hash: enough to tell two apart."""
    return key.removeprefix("sha256:")[:16]


def _graded(trial: Trial) -> tuple[dict[str, ShortGrade], dict[str, str], list[Usage]]:
    """Return the short forms of the grades and of their keys, and what judging has used."""
    grades: dict[str, ShortGrade] = {}
    keys: dict[str, str] = {}
    used: list[Usage] = []
    for name, grade in trial.grades.items():
        grades[name] = grade.score, grade.passed, grade.status
        if grade.key:
            keys[name] = short_key(grade.key)
        if grade.usage is not msgspec.UNSET:
            used.append(grade.usage)
    return grades, keys, used


class TrialLog:
    """Appends trials to a run directory; every trial is handed to the system as it ends.

    It is on disk a second later, in case that the power fails, and when the log is closed.

    Raises:
        StoreError: the disk is full or the directory cannot be written. What was appended before
            stays whole: a line that was cut short is taken back.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._trials = self._open(TRIALS, buffering=0)
        self._outcomes = self._open(OUTCOMES, buffering=1 << 16)
        self._guard(TRIALS, lambda: sync_folders([folder, folder.parent]))
        self._sync = DiskSync(self._trials.fileno())

    def append(self, trial: Trial, outcome: Outcome) -> None:
        """Add one trial to both files."""
        if self._sync.failed is not None:
            raise self._failure(TRIALS, self._sync.failed)
        line = encode_line(trial)
        written = 0
        try:
            while written < len(line):
                written += self._trials.write(line[written:] if written else line)
        except OSError as error:
            self._take_back(written)
            raise self._failure(TRIALS, error) from error
        self._sync.mark()
        try:
            self._outcomes.write(outcome_line(outcome, line))
        except OSError as error:
            raise self._failure(OUTCOMES, error) from error

    def close(self) -> None:
        """Write everything to disk and close the files."""
        self._sync.close()
        try:
            self._guard(OUTCOMES, self._close_outcomes)
        finally:
            self._guard(TRIALS, self._close_trials)

    def _close_outcomes(self) -> None:
        with self._outcomes as file:
            file.flush()
            sync(file.fileno())

    def _close_trials(self) -> None:
        with self._trials as file:
            sync(file.fileno())
        if self._sync.failed is not None:
            raise self._sync.failed

    def __enter__(self) -> Self:
        """Return the log itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the files."""
        self.close()

    def _open(self, name: str, buffering: int) -> IO[bytes]:
        try:
            return (self._folder / name).open("ab", buffering=buffering)
        except OSError as error:
            raise self._failure(name, error) from error

    def _take_back(self, written: int) -> None:
        # The reader drops a torn last line, so a disk that refuses even this loses nothing.
        with suppress(OSError):
            end = self._trials.tell() - written
            self._trials.truncate(end)
            self._trials.seek(end)

    def _guard(self, name: str, act: Callable[[], Any]) -> None:
        try:
            act()
        except OSError as error:
            raise self._failure(name, error) from error

    def _failure(self, name: str, error: OSError) -> StoreError:
        return StoreError(
            f"cannot write the results: {error.strerror}",
            place=str(self._folder / name),
            hint="the trials that were stored before are kept",
        )


def outcome_line(outcome: Outcome, trial_line: bytes) -> bytes:
    """Return an outcome as a line of `outcomes.jsonl`, sealed to the line of its trial."""
    return sealed(_encoder.encode(outcome), trial_line)


def encode_line(trial: Trial) -> bytes:
    """Return a trial as one line of JSON; lone surrogates become U+FFFD."""
    try:
        return _encoder.encode(trial) + b"\n"
    except (UnicodeEncodeError, OverflowError, msgspec.ValidationError):
        plain = storable_json(msgspec.to_builtins(trial, str_keys=True))
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def read_trials(folder: Path, note: Note = lambda _: None) -> Iterator[Trial]:
    """Read the trials of a run one by one, in the order in which they ended.

    A trial that was driven again stands there twice, and interrupted ones stand there too:
    `counted_trials` leaves out what does not count. A torn last line, as a kill leaves it, is
    dropped, and reported to `note`.

    Raises:
        StoreError: a line before the last is damaged, or is of a later version of Regrade.
    """
    path = folder / TRIALS
    for number, _, trial in decoded_lines(path, _decoder, note):
        require_known(trial.v, f"{path}:{number}")
        yield trial


def require_known(version: int, place: str) -> None:
    """Refuse a trial of a later version than this Regrade knows.

    Raises:
        StoreError: it is of one.
    """
    if version > VERSION:
        problem = f"the trial is of version {version}; this Regrade reads up to {VERSION}"
        raise StoreError(problem, place=place)
