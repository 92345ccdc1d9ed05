"""Logs made whole again: a torn end cut off, outcomes made anew, damage put aside."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from harness.storing.counted_trials import counting, uncounted, unplanned_hashes
from harness.storing.log_lines import Note, decoded_lines
from harness.storing.log_pieces import UNDECODABLE, pieces_of
from harness.storing.outcome_seals import outcomes_belong
from harness.storing.run_folders import DAMAGED, OUTCOMES, TRIALS
from harness.storing.stored_index import StoredIndex
from harness.storing.trial_log import outcome_line, outcome_of, require_known
from harness.system.disk_syncing import sync
from harness.system.files import whole_file
from harness.types.errors import StoreError
from harness.types.trials import Outcome, Trial

_trials = msgspec.json.Decoder(Trial)
_outcomes = msgspec.json.Decoder(Outcome)


def cut_torn_end(folder: Path, index: StoredIndex) -> None:
    """Take off what follows the last whole trial, so that the next one begins a line.

    Raises:
        StoreError: the log cannot be written.
    """
    path = folder / TRIALS
    try:
        with path.open("rb+") as file:
            file.truncate(index.end)
            file.seek(max(index.end - 1, 0))
            if index.end and file.read(1) != b"\n":
                file.seek(index.end)
                file.write(b"\n")
            file.flush()
            sync(file.fileno())
    except OSError as error:
        raise StoreError(f"cannot mend the log: {error.strerror}", place=str(path)) from error


def mend_outcomes(folder: Path) -> None:
    """Make `outcomes.jsonl` anew where it is not what was made of the log.

    Raises:
        StoreError: the log cannot be read, or the outcomes not be written.
    """
    if not outcomes_belong(folder):
        rebuild_outcomes(folder)


def all_outcomes(folder: Path) -> Iterator[Outcome]:
    """Return the outcomes of all lines of a log whose outcomes are mended, in their order.

    Raises:
        StoreError: they cannot be read.
    """
    path = folder / OUTCOMES
    return (outcome for _, _, outcome in decoded_lines(path, _outcomes, lambda _: None))


def rebuild_outcomes(folder: Path) -> None:
    """Make `outcomes.jsonl` anew, from `trials.jsonl`.

    Raises:
        StoreError: the log cannot be read, or the outcomes not be written.
    """
    path, log = folder / OUTCOMES, folder / TRIALS
    try:
        with whole_file(path) as draft, draft.open("wb") as file, log.open("rb") as lines:
            for number, offset, trial in decoded_lines(log, _trials, lambda _: None):
                require_known(trial.v, f"{log}:{number}")
                lines.seek(offset)
                file.write(outcome_line(outcome_of(trial), lines.readline()))
    except OSError as error:
        raise StoreError(f"cannot write: {error.strerror}", place=str(path)) from error


def salvaged_trials(folder: Path, note: Note) -> Iterator[Trial]:
    """Return the trials that count of a log that may be damaged; what is none is told to `note`.

    Raises:
        StoreError: the log cannot be read.
    """
    unplanned = unplanned_hashes(folder)
    left_out = uncounted(_readable(folder, lambda _: None), unplanned)
    return counting(_readable(folder, note), left_out)


def _readable(folder: Path, note: Note) -> Iterator[Trial]:
    path = folder / TRIALS
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                for piece in pieces_of(line):
                    if piece.trial is None:
                        note(f"{path}:{number}: damaged, left out: {len(piece.text):,} bytes")
                    else:
                        require_known(piece.trial.v, f"{path}:{number}")
                        yield piece.trial
    except OSError as error:
        raise StoreError(f"cannot read the run: {error.strerror}", place=str(path)) from error


class Salvaged(NamedTuple):
    """How many lines of a log were damaged, and how many pieces of them were no trial."""

    lines: int
    pieces: int


def salvage(folder: Path) -> Salvaged:
    """Keep every trial that can be read in a damaged log.

    What is no trial is added to `damaged.jsonl`, as it was, one piece a line. Nothing is written
    where nothing is damaged.

    Raises:
        StoreError: the log cannot be read or written.
    """
    path = folder / TRIALS
    try:
        with path.open("rb") as lines:
            damaged = sum(not _is_whole(line) for line in lines)
            if not damaged:
                return Salvaged(0, 0)
            lines.seek(0)
            pieces = _put_aside(lines, folder / DAMAGED)
            lines.seek(0)
            with whole_file(path) as draft, draft.open("wb") as kept:
                for piece in _pieces(lines, are_trials=True):
                    kept.write(piece)
                kept.flush()
                sync(kept.fileno())
    except OSError as error:
        raise StoreError(f"cannot salvage: {error.strerror}", place=str(path)) from error
    return Salvaged(damaged, pieces)


def _put_aside(lines: BinaryIO, path: Path) -> int:
    """Add what is no trial to a file, which is made where there is some; return how much it is."""
    pieces = _pieces(lines, are_trials=False)
    first = next(pieces, None)
    if first is None:
        return 0
    with path.open("ab") as aside:
        count = sum(bool(aside.write(piece)) for piece in chain([first], pieces))
        aside.flush()
        sync(aside.fileno())
    return count


def _is_whole(line: bytes) -> bool:
    if line.isspace():
        return True
    try:
        _trials.decode(line)
    except UNDECODABLE:
        return False
    return True


def _pieces(lines: BinaryIO, *, are_trials: bool) -> Iterator[bytes]:
    for line in lines:
        for piece in pieces_of(line):
            if (piece.trial is not None) == are_trials:
                yield piece.text + b"\n"
