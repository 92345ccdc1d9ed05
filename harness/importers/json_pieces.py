"""A file of JSON read piece by piece: bytes come in, values and items of lists go out.

A file may hold one value, or several one after another. Of a list at the top each item is read by
itself, so that a file of any size takes the memory of its longest item.
"""

import codecs
from collections.abc import Iterator
from itertools import count
from json import JSONDecodeError
from typing import Any, BinaryIO, NamedTuple

from harness.documents.encodings import BOM
from harness.system.json_reading import JsonLosses, JsonReader, skip_space
from harness.system.json_values import json_problem

_CHUNK = 2**20  # bytes
_GROWTH = 3
_MARGIN = 16  # what is cut off is at fault this near to the end: a literal, a number, an escape


class Piece(NamedTuple):
    """A value, or an item of a list: `item` is its place there, from 0; None of any other value.

    An empty list is a value. `number` counts the values at the top, from 0, and `line` is where
    that value begins; `ends` says that nothing follows in the file.
    """

    number: int
    line: int
    item: int | None
    value: Any
    ends: bool
    losses: JsonLosses


class NoJsonError(ValueError):
    """What stands on a line, counted from 1, is no JSON, or too much; the text begins with `is`."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line


def read_pieces(file: BinaryIO) -> Iterator[Piece]:
    """Return the pieces of an open file.

    Raises:
        NoJsonError: it is damaged.
        UnicodeDecodeError: it is not UTF-8.
    """
    window = _Window(file)
    for number in count():
        if window.at_end():
            return
        line = window.line()
        if window.next_character() == "[":
            yield from _read_list(window, number, line)
        else:
            value, losses = window.read_value()
            yield Piece(number, line, None, value, window.at_end(), losses)


def _read_list(window: "_Window", number: int, line: int) -> Iterator[Piece]:
    window.skip_character()
    if window.next_character() == "]":
        window.skip_character()
        yield Piece(number, line, None, [], window.at_end(), JsonLosses())
        return
    for index in count():
        value, losses = window.read_value()
        following = window.next_character()
        if following not in {",", "]"}:
            raise window.fault("Expecting ',' delimiter")
        window.skip_character()
        is_last = following == "]"
        yield Piece(number, line, index, value, is_last and window.at_end(), losses)
        if is_last:
            return


class _Window:
    """The part of a file that is looked at; it moves on and grows as a value needs it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._reader = JsonReader()
        self._text = self._decoder.decode(file.read(_CHUNK).removeprefix(BOM))
        self._at = 0
        self._line, self._column = 1, 1  # of the beginning of the window
        self._is_whole = False

    def at_end(self) -> bool:
        """Say whether only white space is left."""
        return self.next_character() == ""

    def next_character(self) -> str:
        """Return what comes after white space; nothing at the end of the file."""
        self._at = skip_space(self._text, self._at)
        while self._at == len(self._text) and self._grow():
            self._at = skip_space(self._text, self._at)
        return self._text[self._at : self._at + 1]

    def skip_character(self) -> None:
        """Go on by one character."""
        self._at += 1

    def line(self) -> int:
        """Return the number of the line, from 1."""
        return self._line_at(self._at)

    def read_value(self) -> tuple[Any, JsonLosses]:
        """Return the value that comes after white space, and what was lost of it."""
        self.next_character()
        while True:
            try:
                value, end = self._reader.read_at(self._text, self._at)
            except JSONDecodeError as error:
                if not self._is_cut_off(error) or not self._grow():
                    raise self.fault(error.msg, error.pos) from error
            except ValueError as error:
                raise self.fault(error) from error
            else:
                # What ends with the window may go on: 12 may be the beginning of 123.
                if end < len(self._text) or not self._grow():
                    self._at = end
                    return value, self._reader.losses

    def fault(self, problem: str | ValueError, at: int | None = None) -> NoJsonError:
        """Return the error of a place in the window."""
        at = self._at if at is None else at
        error = problem if isinstance(problem, ValueError) else ValueError(problem)
        said = f"{json_problem(error)}, at column {self._column_at(at)}"
        return NoJsonError(self._line_at(at), said)

    def _line_at(self, at: int) -> int:
        return self._line + self._text.count("\n", 0, at)

    def _column_at(self, at: int) -> int:
        line_start = self._text.rfind("\n", 0, at) + 1
        return at - line_start + (1 if line_start else self._column)

    def _is_cut_off(self, error: JSONDecodeError) -> bool:
        is_near = error.pos >= len(self._text) - _MARGIN
        return is_near or error.msg.startswith("Unterminated string")

    def _grow(self) -> bool:
        """Read on, and drop what was read before; False at the end of the file."""
        if self._is_whole:
            return False
        rest = self._text[self._at :]
        data = self._file.read(max(_CHUNK, _GROWTH * len(rest)))
        self._is_whole = not data
        self._line, self._column = self._line_at(self._at), self._column_at(self._at)
        self._text = rest + self._decoder.decode(data, final=self._is_whole)
        self._at = 0
        return True
