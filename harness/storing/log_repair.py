"""Logs made whole again: a torn end cut off, outcomes made anew, damage put aside."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from harness.storing.counted_trials import (
    TrialName,
    counting,
    name_hash,
    uncounted,
    unplanned_hashes,
)
from harness.storing.log_lines import Note, decoded_lines
from harness.storing.log_pieces import UNDECODABLE, pieces_of
from harness.storing.run_folders import DAMAGED, OUTCOMES, TRIALS
from harness.storing.stored_index import StoredIndex
from harness.storing.trial_log import outcome_of, read_trials, require_known
from harness.system.disk_syncing import sync
from harness.system.files import whole_file
from harness.types.errors import StoreError
from harness.types.trials import Outcome, Trial

_trials = msgspec.json.Decoder(Trial)
_outcomes = msgspec.json.Decoder(Outcome)
_encode = msgspec.json.Encoder().encode


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


def mended_outcomes(folder: Path, index: StoredIndex) -> Iterator[Outcome]:
    """Return the outcomes of all lines of the log, in their order; the file is made anew if behind.

    Raises:
        StoreError: the log cannot be read, or the outcomes not be written.
    """
    if not _are_whole(folder, index):
        rebuild_outcomes(folder)
    path = folder / OUTCOMES
    return (outcome for _, _, outcome in decoded_lines(path, _outcomes, lambda _: None))


def _are_whole(folder: Path, index: StoredIndex) -> bool:
    path = folder / OUTCOMES
    count = 0
    try:
        with path.open("rb") as lines:
            for line, text in enumerate(lines):
                one = _outcomes.decode(text)
                name = name_hash(TrialName(one.sample_id, one.model, one.epoch))
                if not text.endswith(b"\n") or line >= len(index) or name != index.name_at(line):
                    return False
                if one.status != index.status_at(line):
                    return False
                count += 1
    except (OSError, *UNDECODABLE):
        return False
    return count == len(index)


def rebuild_outcomes(folder: Path) -> None:
    """Make `outcomes.jsonl` anew, from `trials.jsonl`.

    Raises:
        StoreError: the log cannot be read, or the outcomes not be written.
    """
    path = folder / OUTCOMES
    try:
        with whole_file(path) as draft, draft.open("wb") as file:
            for trial in read_trials(folder):
                file.write(_encode(outcome_of(trial)) + b"\n")
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


def salvage(folder: Path) -> int:
    """Keep every trial that can be read in a damaged log; return how many pieces were no trial.

    They are added to `damaged.jsonl`, as they were, one a line. Nothing is written where nothing
    is damaged.

    Raises:
        StoreError: the log cannot be read or written.
    """
    path = folder / TRIALS
    try:
        with path.open("rb") as lines:
            if all(_is_whole(line) for line in lines):
                return 0
            lines.seek(0)
            with (folder / DAMAGED).open("ab") as aside, whole_file(path) as draft:
                with draft.open("wb") as kept:
                    count = sum(_sort_out(line, kept, aside) for line in lines)
                    kept.flush()
                    sync(kept.fileno())
                aside.flush()
                sync(aside.fileno())
    except OSError as error:
        raise StoreError(f"cannot salvage: {error.strerror}", place=str(path)) from error
    return count


def _is_whole(line: bytes) -> bool:
    if line.isspace():
        return True
    try:
        _trials.decode(line)
    except UNDECODABLE:
        return False
    return True


def _sort_out(line: bytes, kept: BinaryIO, aside: BinaryIO) -> int:
    damaged = 0
    for piece in pieces_of(line):
        (aside if piece.trial is None else kept).write(piece.text + b"\n")
        damaged += piece.trial is None
    return damaged
