"""Files and folders of other tools: opened, looked at, and read value by value."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from harness.documents.encodings import BOM
from harness.importers.json_files import JsonFile, split_list, unreadable
from harness.importers.parquet_rows import is_parquet, read_rows
from harness.importers.run_directories import TRIAL_LOG, is_run_directory, was_graded_from
from harness.importers.source_losses import SourceLosses
from harness.types.errors import Fault, InputError
from harness.types.imports import ForeignSource, Head, IsPart

_HEAD_VALUES = 20
_HEAD_TEXT = 4_000  # bytes
_DRAFT = re.compile(r"\.[0-9]+\.part$")  # as harness.system.files names them


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file; `shown` is how faults name it, `is_inner` that a folder around it is read.

    It holds one JSON value, one a line, several one after another, the rows of a table (Parquet),
    or no JSON at all. `losses` counts what could not be kept of what was read.
    """

    path: Path
    shown: str
    is_inner: bool = False
    losses: SourceLosses = field(default_factory=SourceLosses, compare=False, repr=False)

    def head(self) -> Head:
        """Look at the beginning."""
        is_lines = is_parquet(self.path) or self._json.is_lines()
        if not is_lines and not self._json.is_json():
            return Head(name=self.path.name, text=self._beginning())
        try:
            first = tuple(islice(self._first_values(is_lines=is_lines), _HEAD_VALUES))
        except InputError:
            if is_lines:
                raise
            # Some formats are nearly JSON; whoever claims none of it is told by `check`.
            return Head(name=self.path.name, text=self._beginning())
        return Head(name=self.path.name, values=first, is_lines=is_lines)

    def _first_values(self, *, is_lines: bool) -> Iterator[Any]:
        # What is lost is counted when the records are read.
        quiet = replace(self, losses=SourceLosses())
        if is_lines:
            return (value for _, value in quiet.values(lenient=True))
        return JsonFile(self.path, self.shown, quiet.losses).first_values(_HEAD_VALUES)

    def is_empty(self) -> bool:
        """Say whether it holds nothing, or a list or table of nothing."""
        head = self.head()
        return not head.text.strip() and all(value == [] for value in head.values)

    def check(self) -> None:
        """Look for damage where the file looks like JSON.

        Raises:
            InputError: it looks like JSON, and is none.
        """
        if not is_parquet(self.path) and not self._json.is_lines() and self._json.is_json():
            for _ in JsonFile(self.path, self.shown, SourceLosses()).pieces():
                pass

    def _beginning(self) -> str:
        try:
            with self.path.open("rb") as file:
                start = file.read(_HEAD_TEXT)
        except OSError as error:
            raise unreadable(self.shown, error) from error
        return start.removeprefix(BOM).decode(errors="replace")

    def records(self, is_part: IsPart | None = None) -> Iterator[tuple[str, Any]]:
        """Return (place, value) for every record: each line, each item of a list, or the file.

        A list is a record itself where `is_part` says so of one of its items; of one that is not
        on a line of its own, of its first 20.
        """
        if is_parquet(self.path) or self._json.is_lines():
            for place, value in self.values():
                yield from split_list(place, value, is_part)
        else:
            yield from self._json.records(is_part)

    def values(self, *, lenient: bool = False) -> Iterator[tuple[str, Any]]:
        """Return (place, value) for every JSON value of the file as it stands, lists whole.

        Raises:
            InputError: the file is damaged; with `lenient`, lines that are no JSON are returned
                as `Unreadable`.
        """
        if is_parquet(self.path):
            return read_rows(self.path, self.shown, self.losses)
        if self._json.is_lines():
            return self._json.lines(lenient=lenient)
        return self._json.values()

    def text(self) -> str:
        """Return the whole file as text; lone surrogates and bad bytes are faults.

        Raises:
            InputError: it is not UTF-8, or cannot be read.
        """
        return self._json.text()

    @property
    def _json(self) -> JsonFile:
        return JsonFile(self.path, self.shown, self.losses)

    def inside(self, name: str) -> ForeignSource | None:
        """Return a file beside this one; None where there is none."""
        return _file_in(self.path.parent, name, self.shown.rpartition("/")[0], self.losses)


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
    losses: SourceLosses = field(default_factory=SourceLosses, compare=False, repr=False)

    def head(self) -> Head:
        """Look at the names in it."""
        return Head(name=self.path.name, files=tuple(path.name for path in self._paths()))

    def records(self, is_part: IsPart | None = None) -> Iterator[tuple[str, Any]]:
        """Return the records of its files, in the order of their names."""
        for file in self.files():
            yield from file.records(is_part)

    def values(self, *, lenient: bool = False) -> Iterator[tuple[str, Any]]:
        """Return the values of its files, in the order of their names."""
        for file in self.files():
            yield from file.values(lenient=lenient)

    def text(self) -> str:
        """Return nothing: a folder has no text of its own."""
        return ""

    def inside(self, name: str) -> ForeignSource | None:
        """Return a file of the folder; None where there is none."""
        return _file_in(self.path, name, self.shown, self.losses)

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
                top = self.top or self.path
                yield SourceFolder(path, self._shown(path), top, self.listed, self.losses)
            else:
                yield SourceFile(path, self._shown(path), is_inner=True, losses=self.losses)

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
            raise unreadable(self.shown, error) from error
        return self.listed[self.path]


def open_source(path: Path) -> SourceFile | SourceFolder:
    """Open a file or folder.

    Raises:
        InputError: there is no such thing, or it can be read only once.
    """
    shown = readable_name(path.as_posix())
    if path.is_dir():
        return SourceFolder(path, shown)
    if not path.exists():
        raise InputError([Fault(file=shown, problem="there is no such file or folder")])
    if not path.is_file():
        problem = "this is a pipe or a device, and records are read more than once"
        raise InputError([Fault(file=shown, problem=problem, allowed="save them as a file")])
    return SourceFile(path, shown)


def readable_name(name: str) -> str:
    r"""Return a name that can be stored and shown: a byte that is not UTF-8 becomes `\udcff`."""
    return name.encode(errors="backslashreplace").decode()


def _file_in(folder: Path, name: str, shown: str, losses: SourceLosses) -> SourceFile | None:
    """Return a file of a folder; a name from a record cannot lead out of it."""
    path = folder / name
    if Path(name).is_absolute() or not path.is_file():
        return None
    if not path.resolve().is_relative_to(folder.resolve()):
        return None
    return SourceFile(path, f"{shown}/{name}" if shown else name, losses=losses)
