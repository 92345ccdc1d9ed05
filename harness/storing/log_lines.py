"""The lines of a log of trials: whole ones decoded, a torn last one dropped, damage named."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from harness.storing.log_pieces import UNDECODABLE, pieces_of
from harness.types.errors import StoreError

_T = TypeVar("_T")

Note = Callable[[str], None]
"""Hears what was dropped of a log."""


def decoded_lines(
    path: Path, decoder: msgspec.json.Decoder[_T], note: Note
) -> Iterator[tuple[int, int, _T]]:
    """Give the number, the offset and the value of each line, blank ones left out.

    The last line may be torn, as a kill leaves it: it is dropped, and reported to `note`.

    Raises:
        StoreError: the file cannot be read, or a line before the last is damaged.
    """
    try:
        with path.open("rb") as lines:
            yield from _decoded(lines, path, decoder, note)
    except OSError as error:
        raise StoreError(f"cannot read the run: {error.strerror}", place=str(path)) from error


def _decoded(
    lines: BinaryIO, path: Path, decoder: msgspec.json.Decoder[_T], note: Note
) -> Iterator[tuple[int, int, _T]]:
    end = 0
    for number, line in enumerate(lines, start=1):
        offset, end = end, end + len(line)
        if line.isspace():
            continue
        try:
            value = decoder.decode(line)
        except UNDECODABLE as error:
            if all(rest.isspace() for rest in lines) and not _holds_trial(line):
                note(f"{path}:{number}: the last line is torn and was dropped")
                return
            raise damage(path, number, error) from error
        yield number, offset, value


def _holds_trial(line: bytes) -> bool:
    """Say whether dropping a line would lose a trial, such as one glued to a torn one."""
    return any(piece.trial is not None for piece in pieces_of(line))


def damage(path: Path, number: int, error: Exception) -> StoreError:
    """Return what is said of a line that is no trial."""
    return StoreError(
        f"the line is no trial: {error}",
        place=f"{path}:{number}",
        hint="the file was damaged; --salvage of `regrade run --resume` and `regrade grade` "
        "keeps every trial that can be read",
    )
