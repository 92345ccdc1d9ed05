"""Files and folders of other tools: opened, looked at, and read value by value."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from typing import Any

from harness.documents.encodings import BOM, bad_byte, find_other_encoding
from harness.importers.parquet_rows import is_parquet, read_rows
from harness.importers.run_directories import TRIAL_LOG, is_run_directory, was_graded_from
from harness.system.json_values import clean_json, load_json
from harness.types.errors import Fault, InputError
from harness.types.imports import ForeignSource, Head, Unreadable

_HEAD_VALUES = 20
_HEAD_TEXT = 4_000  # bytes
_DRAFT = re.compile(r"\.[0-9]+\.part$")  # as harness.system.files names them


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file; `shown` is how faults name it, `is_inner` that a folder around it is read.

    It holds one JSON value, one a line, several one after another, the rows of a table (Parquet),
    or no JSON at all.
    """

    path: Path
    shown: str
    is_inner: bool = False

    def head(self) -> Head:
        """Look at the beginning."""
        is_lines = is_parquet(self.path) or self._is_lines()
        if not is_lines and not self._is_json():
            return Head(name=self.path.name, text=self._beginning())
        values = self.values(lenient=True)
        try:
            first = tuple(value for _, value in islice(values, _HEAD_VALUES))
        except InputError:
            if is_lines:
                raise
            # Some formats are nearly JSON; whoever claims none of it is told by `check`.
            return Head(name=self.path.name, text=self._beginning())
        return Head(name=self.path.name, values=first, is_lines=is_lines)

    def check(self) -> None:
        """Look for damage where the file looks like JSON.

        Raises:
            InputError: it looks like JSON, and is none.
        """
        if not is_parquet(self.path) and not self._is_lines() and self._is_json():
            for _ in self.values():
                pass

    def _beginning(self) -> str:
        try:
            with self.path.open("rb") as file:
                start = file.read(_HEAD_TEXT)
        except OSError as error:
            raise _unreadable(self.shown, error) from error
        return start.removeprefix(BOM).decode(errors="replace")

    def records(self) -> Iterator[tuple[str, Any]]:
        """Return (place, value) for every record: each line, each item of a list, or the file."""
        for place, value in self.values():
            if isinstance(value, list):
                yield from ((f"{place}[{index}]", item) for index, item in enumerate(value))
            else:
                yield place, value

    def values(self, *, lenient: bool = False) -> Iterator[tuple[str, Any]]:
        """Return (place, value) for every JSON value of the file as it stands, lists whole.

        Raises:
            InputError: the file is damaged; with `lenient`, lines that are no JSON are returned
                as `Unreadable`.
        """
        if is_parquet(self.path):
            return read_rows(self.path, self.shown)
        if self._is_lines():
            return self._lines(lenient=lenient)
        return self._whole()

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

    def inside(self, name: str) -> ForeignSource | None:
        """Return a file beside this one; None where there is none."""
        return _file_in(self.path.parent, name, self.shown.rpartition("/")[0])

    def _bytes(self) -> bytes:
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise _unreadable(self.shown, error) from error

    def _first_lines(self) -> list[bytes]:
        try:
            with self.path.open("rb") as file:
                lines = (line.strip() for line in chain([file.readline().removeprefix(BOM)], file))
                return list(islice((line for line in lines if line), 2))
        except OSError as error:
            raise _unreadable(self.shown, error) from error

    def _is_lines(self) -> bool:
        """Say whether there is one JSON value a line: the name, or the first line, says so."""
        if self.path.suffix.lower() in {".jsonl", ".ndjson"}:
            return True
        first = self._first_lines()
        return len(first) > 1 and all(map(_is_object, first))

    def _is_json(self) -> bool:
        return any(line[:1] in b'{["' for line in self._first_lines()[:1])

    def _lines(self, *, lenient: bool) -> Iterator[tuple[str, Any]]:
        try:
            with self.path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    body = line.removeprefix(BOM) if number == 1 else line
                    if body.strip():
                        yield self._line(body, number, lenient=lenient)
        except OSError as error:
            raise _unreadable(self.shown, error) from error

    def _line(self, line: bytes, number: int, *, lenient: bool) -> tuple[str, Any]:
        place = f"{self.shown}:{number}"
        try:
            return place, load_json(line.decode())
        except ValueError as error:
            if lenient:
                return place, Unreadable(text=line.decode(errors="replace"), problem=str(error))
            if isinstance(error, UnicodeDecodeError):
                fault = bad_byte(self.shown, number, line[: error.start], line[error.start])
                raise InputError([fault]) from error
            problem = f"this line is no JSON: {error}"
            raise InputError([Fault(file=self.shown, line=number, problem=problem)]) from error

    def _whole(self) -> Iterator[tuple[str, Any]]:
        text = self.text()
        try:
            value = load_json(text)
        except ValueError as error:
            yield from self._sequence(text, error)
            return
        if isinstance(value, str):
            # Some tools write a file whose JSON is a text that holds the JSON.
            value = self._inner(value)
        yield self.shown, value

    def _inner(self, text: str) -> Any:
        try:
            return load_json(text)
        except ValueError as error:
            problem = f"the file is a JSON text, and what it holds is no JSON: {error}"
            raise InputError([Fault(file=self.shown, problem=problem)]) from error

    def _sequence(self, text: str, whole: ValueError) -> Iterator[tuple[str, Any]]:
        """Read values that stand one after another, over any number of lines each."""
        decoder, at, count = JSONDecoder(), _skip(text, 0), 0
        while at < len(text):
            try:
                value, end = decoder.raw_decode(text, at)
                cleaned = clean_json(value)
            except (ValueError, RecursionError) as error:
                raise self._broken(text, at, error if count else whole) from error
            line = text.count("\n", 0, at) + 1
            yield f"{self.shown}:{line}", cleaned
            at, count = _skip(text, end), count + 1

    def _broken(self, text: str, at: int, error: Exception) -> InputError:
        position = error.pos if isinstance(error, JSONDecodeError) else at
        line = text.count("\n", 0, position) + 1
        return InputError([Fault(file=self.shown, line=line, problem=f"this is no JSON: {error}")])


@dataclass(frozen=True, slots=True)
class SourceFolder:
    """A folder whose files belong together, such as the results of one run of another tool.

    Each folder is listed once, so that what is written while it is read does not become part of it:
    `listed` holds the paths of every folder, and `top` is the folder that the user named.
    """

    path: Path
    shown: str
    top: Path | None = None
    listed: dict[Path, list[Path]] = field(default_factory=dict, compare=False, repr=False)

    def head(self) -> Head:
        """Look at the names in it."""
        return Head(name=self.path.name, files=tuple(path.name for path in self._paths()))

    def records(self) -> Iterator[tuple[str, Any]]:
        """Return the records of its files, in the order of their names."""
        for file in self.files():
            yield from file.records()

    def values(self, *, lenient: bool = False) -> Iterator[tuple[str, Any]]:
        """Return the values of its files, in the order of their names."""
        for file in self.files():
            yield from file.values(lenient=lenient)

    def text(self) -> str:
        """Return nothing: a folder has no text of its own."""
        return ""

    def inside(self, name: str) -> ForeignSource | None:
        """Return a file of the folder; None where there is none."""
        return _file_in(self.path, name, self.shown)

    def files(self) -> Iterator[SourceFile]:
        """Return its files in the order of their names, hidden ones aside."""
        return (entry for entry in self.entries() if isinstance(entry, SourceFile))

    def entries(self) -> "Iterator[SourceFile | SourceFolder]":
        """Return its files and folders in the order of their names, without what is passed over.

        Hidden ones are left out too, and of a run directory of ours all but the trials.
        """
        is_run = is_run_directory(self.path)
        for path in self._visible():
            if self._why_not(path) or (is_run and path.name != TRIAL_LOG):
                continue
            if path.is_dir():
                yield SourceFolder(path, self._shown(path), self.top or self.path, self.listed)
            else:
                yield SourceFile(path, self._shown(path), is_inner=True)

    def passed_over(self) -> Iterator[str]:
        """Return what lies in it and is not read, each with the reason.

        Links are not followed: they may lead to where they came from, or to what nobody meant.
        """
        for path in self._visible():
            if reason := self._why_not(path):
                yield f"{self._shown(path)} ({reason})"

    def _visible(self) -> list[Path]:
        return [path for path in self._paths() if not path.name.startswith(".")]

    def _why_not(self, path: Path) -> str:
        if path.is_symlink():
            return "a link"
        if path.is_dir():
            is_ours = is_run_directory(path) and was_graded_from(path, self.top or self.path)
            return "a run that graded this source" if is_ours else ""
        if not path.is_file():
            return "no file"
        return "an unfinished file of Regrade" if _DRAFT.search(path.name) else ""

    def _shown(self, path: Path) -> str:
        return f"{self.shown.rstrip('/')}/{readable_name(path.name)}"

    def _paths(self) -> list[Path]:
        try:
            if self.path not in self.listed:
                self.listed[self.path] = sorted(self.path.iterdir())
        except OSError as error:
            raise _unreadable(self.shown, error) from error
        return self.listed[self.path]


def open_source(path: Path) -> SourceFile | SourceFolder:
    """Open a file or folder.

    Raises:
        InputError: there is no such thing.
    """
    shown = readable_name(path.as_posix())
    if path.is_dir():
        return SourceFolder(path, shown)
    if not path.is_file():
        raise InputError([Fault(file=shown, problem="there is no such file or folder")])
    return SourceFile(path, shown)


def readable_name(name: str) -> str:
    r"""Return a name that can be stored and shown: a byte that is not UTF-8 becomes `\udcff`."""
    return name.encode(errors="backslashreplace").decode()


def _file_in(folder: Path, name: str, shown: str) -> SourceFile | None:
    """Return a file of a folder; a name from a record cannot lead out of it."""
    path = folder / name
    if Path(name).is_absolute() or not path.is_file():
        return None
    if not path.resolve().is_relative_to(folder.resolve()):
        return None
    return SourceFile(path, f"{shown}/{name}" if shown else name)


def _unreadable(shown: str, error: OSError) -> InputError:
    reason = error.strerror or type(error).__name__
    return InputError([Fault(file=shown, problem=f"cannot be read: {reason}")])


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict | list)
    except (ValueError, RecursionError):
        return False


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at
