"""The lines of a log by the names of their trials, whatever the order in which they stand there."""

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from harness.storing.counted_trials import TrialHead, uncounted, unplanned_hashes
from harness.storing.log_lines import Note, damage, decoded_lines
from harness.storing.log_pieces import UNDECODABLE
from harness.storing.trial_log import require_known
from harness.types.errors import StoreError

_T = TypeVar("_T")
_heads = msgspec.json.Decoder(TrialHead)


class NamedLines:
    """A log of trials or outcomes in the order of sample, model, epoch and revision.

    Going through it gives the index (from 0) of each line, and whether it counts. Nothing depends
    on the order of the lines, but where two of one trial have one revision: the later one counts.
    It keeps some bytes a line.

    Raises:
        StoreError: the log cannot be read.
    """

    def __init__(self, path: Path, note: Note = lambda _: None) -> None:
        self._path = path
        self._offsets = array("Q")
        names: list[tuple[str, str, int, int]] = []
        self._left_out = uncounted(self._heads(names, note), unplanned_hashes(path.parent))
        self._order = array("L", sorted(range(len(names)), key=names.__getitem__))

    def _heads(self, names: list[tuple[str, str, int, int]], note: Note) -> Iterator[TrialHead]:
        ids: dict[str, str] = {}
        for number, offset, head in decoded_lines(self._path, _heads, note):
            require_known(head.v, f"{self._path}:{number}")
            self._offsets.append(offset)
            # One text for all epochs of a sample, and for all samples of a model.
            sample = ids.setdefault(head.sample_id, head.sample_id)
            model = ids.setdefault(head.model, head.model)
            names.append((sample, model, head.epoch, head.revision))
            yield head

    def __len__(self) -> int:
        """Count the lines that count."""
        return len(self._left_out) - sum(self._left_out)

    def counted(self, decoder: msgspec.json.Decoder[_T]) -> Iterator[tuple[int, _T]]:
        """Read the lines that count."""
        return ((index, one) for index, one, counts in self.read(decoder) if counts)

    def read(self, decoder: msgspec.json.Decoder[_T]) -> Iterator[tuple[int, _T, bool]]:
        """Read all lines, each with whether it counts.

        Raises:
            StoreError: they cannot be read any more.
        """
        try:
            with self._path.open("rb") as lines:
                for index in self._order:
                    lines.seek(self._offsets[index])
                    one = self._decoded(lines.readline(), decoder, index)
                    yield index, one, not self._left_out[index]
        except OSError as error:
            problem = f"cannot read the run: {error.strerror}"
            raise StoreError(problem, place=str(self._path)) from error

    def _decoded(self, line: bytes, decoder: msgspec.json.Decoder[_T], index: int) -> _T:
        try:
            return decoder.decode(line)
        except UNDECODABLE as error:
            with self._path.open("rb") as file:
                number = file.read(self._offsets[index]).count(b"\n") + 1
            raise damage(self._path, number, error) from error
