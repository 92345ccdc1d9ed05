"""The log of a run: `trials.jsonl`, one line a trial, and `outcomes.jsonl`, its short form."""

import json
from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, TypeVar

import msgspec

from harness.storing.run_folders import OUTCOMES, TRIALS
from harness.system.json_values import scrub_json
from harness.types.errors import StoreError
from harness.types.trajectories import Usage
from harness.types.trials import VERSION, Outcome, Trial

_T = TypeVar("_T")
_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Trial)


def outcome_of(trial: Trial) -> Outcome:
    """Return the short form of a trial."""
    return Outcome(
        sample_id=trial.sample_id,
        model=trial.model,
        epoch=trial.epoch,
        status=trial.status,
        passed=trial.passed,
        score=trial.score,
        seconds=trial.timing.target_seconds,
        usage=trial.usage,
        judge_usage=_judge_usage(trial),
        grades={name: (g.score, g.passed, g.status) for name, g in trial.grades.items()},
    )


def _judge_usage(trial: Trial) -> Usage | None:
    used = [g.usage for g in trial.grades.values() if isinstance(g.usage, Usage)]
    return sum(used, Usage()) if used else None


class TrialLog:
    """Appends trials to a run directory; every trial is handed to the system as it ends.

    Raises:
        StoreError: the disk is full or the directory cannot be written. What was appended before
            stays whole: a line that was cut short is taken back.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._trials = self._open(TRIALS, buffering=0)
        self._outcomes = self._open(OUTCOMES, buffering=1 << 16)

    def append(self, trial: Trial, outcome: Outcome) -> None:
        """Add one trial to both files."""
        line = encode_line(trial)
        end = self._trials.tell()
        try:
            written = self._trials.write(line)
            while written < len(line):
                written += self._trials.write(line[written:])
        except OSError as error:
            self._take_back(end)
            raise self._failure(TRIALS, error) from error
        self._guard(lambda: self._outcomes.write(_encoder.encode(outcome) + b"\n"))

    def close(self) -> None:
        """Hand everything to the system and close the files."""
        try:
            self._guard(self._outcomes.close)
        finally:
            self._guard(self._trials.close)

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

    def _take_back(self, end: int) -> None:
        # The reader drops a torn last line, so a disk that refuses even this loses nothing.
        with suppress(OSError):
            self._trials.truncate(end)
            self._trials.seek(end)

    def _guard(self, act: Callable[[], Any]) -> None:
        try:
            act()
        except OSError as error:
            raise self._failure(OUTCOMES, error) from error

    def _failure(self, name: str, error: OSError) -> StoreError:
        return StoreError(
            f"cannot write the results: {error.strerror}",
            place=str(self._folder / name),
            hint="the trials that were stored before are kept",
        )


def encode_line(trial: Trial) -> bytes:
    """Return a trial as one line of JSON; lone surrogates become U+FFFD."""
    try:
        return _encoder.encode(trial) + b"\n"
    except (UnicodeEncodeError, OverflowError, msgspec.ValidationError):
        plain = scrub_json(msgspec.to_builtins(trial, str_keys=True))
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def read_trials(folder: Path, note: Callable[[str], None] = lambda _: None) -> Iterator[Trial]:
    """Read the trials of a run one by one, in the order in which they ended.

    A trial that was driven again stands there twice; the later line counts. A torn last line, as
    a kill leaves it, is dropped, and reported to `note`.

    Raises:
        StoreError: a line before the last is damaged, or is of a later version of Regrade.
    """
    path = folder / TRIALS
    for number, line in _lines(path, note):
        trial = _decoded(_decoder, line, f"{path}:{number}")
        if trial.v > VERSION:
            raise StoreError(
                f"the trial is of version {trial.v}; this Regrade reads up to {VERSION}",
                place=f"{path}:{number}",
            )
        yield trial


def _lines(path: Path, note: Callable[[str], None]) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.isspace():
                    continue
                if not line.endswith(b"\n"):
                    note(f"{path}:{number}: the last line is torn and was dropped")
                    return
                yield number, line
    except OSError as error:
        raise StoreError(f"cannot read the run: {error.strerror}", place=str(path)) from error


def _decoded(decoder: msgspec.json.Decoder[_T], line: bytes, place: str) -> _T:
    try:
        return decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoreError(
            f"the line is no trial: {error}",
            place=place,
            hint="the line was damaged; take it out to read the rest",
        ) from error


class _Head(msgspec.Struct):
    """What names a trial; decoding it alone is several times as fast."""

    sample_id: str
    model: str
    epoch: int


_head_decoder = msgspec.json.Decoder(_Head)


def replaced_trials(folder: Path) -> set[int]:
    """Return the indices (from 0) of trials that do not count: the same trial was driven again.

    Costs eight bytes a trial, as long as none was driven again.

    Raises:
        StoreError: as `read_trials` does.
    """
    hashes = array("q", _name_hashes(folder))
    in_order = sorted(hashes)
    twice = {one for one, other in pairwise(in_order) if one == other}
    last = {name: index for index, name in enumerate(hashes) if name in twice}
    return {index for index, name in enumerate(hashes) if name in twice and last[name] != index}


def _name_hashes(folder: Path) -> Iterator[int]:
    path = folder / TRIALS
    for number, line in _lines(path, lambda _: None):
        head = _decoded(_head_decoder, line, f"{path}:{number}")
        yield hash((head.sample_id, head.model, head.epoch))
