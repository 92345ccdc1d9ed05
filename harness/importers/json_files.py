"""One JSON file, whatever its layout: bytes come in, values with their places go out."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO

from harness.documents.encodings import BOM, bad_byte, find_other_encoding
from harness.importers.json_pieces import NoJsonError, Piece, read_pieces
from harness.importers.source_losses import SourceLosses
from harness.system.json_reading import JsonReader
from harness.system.json_values import json_problem
from harness.types.errors import Fault, InputError
from harness.types.imports import IsPart, Unreadable

_LOOKED_AT = 20
_LONG = 2**22  # bytes: of a longer line, and of a list in a larger file, the beginning is looked at


@dataclass(frozen=True, slots=True)
class JsonFile:
    """A file with one JSON value, one a line, or several one after another.

    What cannot be read is an `InputError` with its place. `losses` counts what could not be kept.
    """

    path: Path
    shown: str
    losses: SourceLosses

    def is_json(self) -> bool:
        """Say whether it begins as a list, an object or a text does."""
        return any(line[:1] in b'{["' for line in self._first_lines()[:1])

    def is_lines(self) -> bool:
        """Say whether there is one JSON value a line: the name, or the first line, says so.

        A first line that is too long to be held is read piece by piece, whatever the name says.
        """
        first = self._first_lines()
        if any(len(line) > _LONG // 2 for line in first[:1]):
            return False
        if self.path.suffix.lower() in {".jsonl", ".ndjson"}:
            return True
        return len(first) > 1 and all(map(_is_object, first))

    def _first_lines(self) -> list[bytes]:
        """Return the first two lines that hold something; of a long one, the beginning alone."""
        try:
            with self.path.open("rb") as file:
                return list(islice(_filled_lines(file), 2))
        except OSError as error:
            raise unreadable(self.shown, error) from error

    def text(self) -> str:
        """Return the whole file as text; lone surrogates and bad bytes are faults.

        Raises:
            InputError: it is not UTF-8, or cannot be read.
        """
        data = self._bytes()
        if other := find_other_encoding(data[:4], self.shown):
            raise InputError([other])
        body = data.removeprefix(BOM)
        try:
            return body.decode()
        except UnicodeDecodeError as error:
            before = body[: error.start]
            line = before.count(b"\n") + 1
            last = before[before.rfind(b"\n") + 1 :]
            fault = bad_byte(self.shown, line, last, body[error.start])
            raise InputError([fault]) from error

    def _bytes(self) -> bytes:
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise unreadable(self.shown, error) from error

    def lines(self, *, lenient: bool) -> Iterator[tuple[str, Any]]:
        """Return (place, value) for every line; with `lenient`, damaged ones as `Unreadable`."""
        reader = JsonReader()
        try:
            with self.path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    body = line.removeprefix(BOM) if number == 1 else line
                    if body.strip():
                        yield (
                            f"{self.shown}:{number}",
                            self._line(body, number, reader, lenient=lenient),
                        )
        except OSError as error:
            raise unreadable(self.shown, error) from error

    def _line(self, line: bytes, number: int, reader: JsonReader, *, lenient: bool) -> Any:
        place = f"{self.shown}:{number}"
        try:
            value = reader.read(line.decode())
        except ValueError as error:
            if lenient:
                return Unreadable(text=self.losses.decode(place, line), problem=json_problem(error))
            if isinstance(error, UnicodeDecodeError):
                fault = bad_byte(self.shown, number, line[: error.start], line[error.start])
                raise InputError([fault]) from error
            problem = f"this line {json_problem(error)}"
            raise InputError([Fault(file=self.shown, line=number, problem=problem)]) from error
        self.losses.add_json(place, reader.losses)
        return value

    def pieces(self) -> Iterator[Piece]:
        """Return its values, and the items of its lists, one by one."""
        try:
            with self.path.open("rb") as file:
                if other := find_other_encoding(file.read(4), self.shown):
                    raise InputError([other])
                file.seek(0)
                for piece in read_pieces(file):
                    self.losses.add_json(self._place(piece), piece.losses)
                    yield piece
        except OSError as error:
            raise unreadable(self.shown, error) from error
        except NoJsonError as error:
            problem = f"this {error}"
            raise InputError([Fault(file=self.shown, line=error.line, problem=problem)]) from error
        except UnicodeDecodeError:
            self.text()
            raise

    def _place(self, piece: Piece) -> str:
        """Name a piece: by its line where the file holds several values, as far as that is known.

        Items of a list are given before it is known whether anything follows the list.
        """
        is_first = piece.number == 0 and (piece.ends or piece.item is not None)
        value = self.shown if is_first else f"{self.shown}:{piece.line}"
        return value if piece.item is None else f"{value}[{piece.item}]"

    def _whole(self, pieces: Sequence[Piece]) -> tuple[str, Any]:
        """Return a value at the top of the file; its items, if it is a list."""
        last = pieces[-1]
        if last.item is not None:
            place = self._place(last._replace(item=None))
            return place, [piece.value for piece in pieces]
        if isinstance(last.value, str) and last.number == 0 and last.ends:
            # Some tools write a file whose JSON is a text that holds the JSON.
            return self.shown, self._inner(last.value)
        return self._place(last), last.value

    def _inner(self, text: str) -> Any:
        reader = JsonReader()
        try:
            value = reader.read(text)
        except ValueError as error:
            problem = f"the file is a JSON text, and what it holds {json_problem(error)}"
            raise InputError([Fault(file=self.shown, problem=problem)]) from error
        self.losses.add_json(self.shown, reader.losses)
        return value

    def values(self) -> Iterator[tuple[str, Any]]:
        """Return (place, value) for every value at the top, lists whole."""
        for _, group in groupby(self.pieces(), attrgetter("number")):
            yield self._whole(tuple(group))

    def records(self, is_part: IsPart | None) -> Iterator[tuple[str, Any]]:
        """Return records, one after another also of a list, which is looked at by its first."""
        for _, group in groupby(self.pieces(), attrgetter("number")):
            first = list(islice(group, _LOOKED_AT))
            pieces = chain(first, group)  # noqa: B031  (the rest of it)
            is_list = first[0].item is not None
            if is_list and not _has_parts((piece.value for piece in first), is_part):
                yield from ((self._place(piece), piece.value) for piece in pieces)
            else:
                yield from split_list(*self._whole(tuple(pieces)), is_part)

    def first_values(self, most: int) -> Iterator[Any]:
        """Return the first values at the top; of a long list in a large file the first items."""
        is_large = self.path.stat().st_size > _LONG
        for _, group in groupby(self.pieces(), attrgetter("number")):
            pieces = list(islice(group, most if is_large else None))
            yield self._whole(pieces)[1]
            if is_large:
                return


def _filled_lines(file: BinaryIO) -> Iterator[bytes]:
    line = file.readline(_LONG).removeprefix(BOM)
    while line:
        if line.strip():
            yield line.strip()
        line = file.readline(_LONG) if line.endswith(b"\n") else b""


def _has_parts(items: Iterable[Any], is_part: IsPart | None) -> bool:
    return is_part is not None and any(map(is_part, items))


def split_list(place: str, value: Any, is_part: IsPart | None) -> Iterator[tuple[str, Any]]:
    """Return the items of a list as records, if none of them is a part; else the value."""
    if isinstance(value, list) and not _has_parts(value, is_part):
        yield from ((f"{place}[{index}]", item) for index, item in enumerate(value))
    else:
        yield place, value


def unreadable(shown: str, error: OSError) -> InputError:
    """Return the error of a file that cannot be opened or read."""
    reason = error.strerror or type(error).__name__
    return InputError([Fault(file=shown, problem=f"cannot be read: {reason}")])


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict | list)
    except (ValueError, RecursionError):
        return False
