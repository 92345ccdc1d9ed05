"""An index of the trials that a run directory holds, for a run that is resumed: some bytes each."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import get_args

import msgspec

from harness.storing.counted_trials import TrialHead, name_hash
from harness.storing.log_lines import Note, decoded_lines
from harness.storing.log_pieces import UNDECODABLE
from harness.storing.run_folders import TRIALS
from harness.storing.trial_log import require_known
from harness.types.errors import StoreError
from harness.types.trials import Keys, Slices, Trial, TrialStatus

_STATUSES: tuple[TrialStatus, ...] = get_args(TrialStatus)
_UNGRADED = "grading_interrupted"


class _Code(msgspec.Struct):
    code: str


class _StoredGrade(msgspec.Struct):
    status: str
    key: str | None = None


class _Timing(msgspec.Struct):
    started_at: datetime


class _Entry(TrialHead, frozen=True, kw_only=True):
    """What of a stored trial decides whether it still counts."""

    status: TrialStatus
    passed: bool | None = None
    keys: Keys
    timing: _Timing
    grades: dict[str, _StoredGrade]
    error: _Code | None = None
    slices: Slices = msgspec.field(default_factory=dict)


class StoredTrial(msgspec.Struct, frozen=True):
    """A stored trial: its line (index from 0), revision, status, and whether it has failed.

    `is_driven` says that its agent was driven to its end, `is_broken` that a grade is an error.
    """

    line: int
    revision: int
    status: TrialStatus
    driven: int
    graded: int
    sliced: int
    is_driven: bool
    is_broken: bool
    has_failed: bool


_entries = msgspec.json.Decoder(_Entry)
_trials = msgspec.json.Decoder(Trial)
_DRIVEN, _BROKEN, _FAILED = 8, 16, 32


def driven_mark(drive: str, sample: str) -> int:
    """Return the hash of the keys under which a trial was driven; for this process alone."""
    return hash((drive, sample))


def graded_mark(keys: Iterable[tuple[str, str | None]]) -> int:
    """Return the hash of the names and keys of grades, in any order; for this process alone."""
    return hash(frozenset(keys))


def sliced_mark(slices: Slices) -> int:
    """Return the hash of the slices of a trial; for this process alone."""
    return hash(tuple(slices.items()))


class StoredIndex:
    """The trials of a log by sample, model and epoch; of several lines the highest revision.

    `end` is where the last whole line ends in the file. It takes 45 bytes a trial.

    Raises:
        StoreError: the log cannot be read, or a line before the last is damaged.
    """

    def __init__(self, folder: Path, note: Note) -> None:
        self._path = folder / TRIALS
        self._names, self._offsets = array("q"), array("Q")
        self._driven, self._graded, self._states = array("q"), array("q"), bytearray()
        self._sliced, self._revisions = array("q"), array("I")
        for number, offset, entry in decoded_lines(self._path, _entries, note):
            require_known(entry.v, f"{self._path}:{number}")
            self._add(offset, entry)
        self.end = self._end_of_last()
        order = sorted(range(len(self._names)), key=self._revisions.__getitem__)
        # Of equal names the newest stands last: sorting keeps the order of what is equal.
        order.sort(key=self._names.__getitem__)
        self._order = array("L", order)
        self._sorted = array("q", map(self._names.__getitem__, order))

    def _add(self, offset: int, entry: _Entry) -> None:
        self._names.append(name_hash(entry))
        self._offsets.append(offset)
        self._driven.append(driven_mark(entry.keys.drive, entry.keys.sample))
        self._graded.append(graded_mark((name, g.key) for name, g in entry.grades.items()))
        self._sliced.append(sliced_mark(entry.slices))
        self._revisions.append(entry.revision)
        self._states.append(_state(entry))

    def _end_of_last(self) -> int:
        if not self._offsets:
            return 0
        with self._path.open("rb") as file:
            file.seek(self._offsets[-1])
            return self._offsets[-1] + len(file.readline())

    def __len__(self) -> int:
        """Count the lines, replaced ones included."""
        return len(self._names)

    def find(self, sample_id: str, model: str, epoch: int) -> StoredTrial | None:
        """Return the stored trial that counts; None where there is none."""
        name = hash((sample_id, model, epoch))
        place = bisect_left(self._sorted, name)
        found = None
        while place < len(self._sorted) and self._sorted[place] == name:
            found = self._order[place]
            place += 1
        return None if found is None else self._at(found)

    def _at(self, line: int) -> StoredTrial:
        state = self._states[line]
        return StoredTrial(
            line,
            self._revisions[line],
            _STATUSES[state & 7],
            self._driven[line],
            self._graded[line],
            self._sliced[line],
            bool(state & _DRIVEN),
            bool(state & _BROKEN),
            bool(state & _FAILED),
        )

    def last_lines(self) -> Iterator[int]:
        """Return the line that counts of every trial, in no order."""
        ahead = iter(self._sorted)
        next(ahead, None)
        for name, line in zip(self._sorted, self._order, strict=True):
            if next(ahead, None) != name:
                yield line

    def status_at(self, line: int) -> TrialStatus:
        """Return the status of the trial on a line."""
        return _STATUSES[self._states[line] & 7]

    def read(self, line: int) -> Trial:
        """Read the whole trial on a line.

        Raises:
            StoreError: it cannot be read any more.
        """
        try:
            with self._path.open("rb") as file:
                file.seek(self._offsets[line])
                return _trials.decode(file.readline())
        except OSError as error:
            raise StoreError(f"cannot read: {error.strerror}", place=str(self._path)) from error
        except UNDECODABLE as error:
            place = f"{self._path}: at byte {self._offsets[line]:,}"
            raise StoreError(f"the line is no trial: {error}", place=place) from error


def _state(entry: _Entry) -> int:
    ended = entry.status in {"completed", "grading_error", "agent_failure"}
    only_graded = entry.error is not None and entry.error.code == _UNGRADED
    is_broken = any(grade.status == "error" for grade in entry.grades.values())
    is_ungraded = entry.status == "completed" and entry.passed is None
    has_failed = entry.passed is not True and not is_ungraded
    return (
        _STATUSES.index(entry.status)
        | (_DRIVEN if ended or only_graded else 0)
        | (_BROKEN if is_broken else 0)
        | (_FAILED if has_failed else 0)
    )
