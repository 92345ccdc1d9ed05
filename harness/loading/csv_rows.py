"""Rows of a CSV file: a header, then one row a sample; every cell is the text that was written."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from harness.documents.encodings import bad_byte
from harness.loading.census import Census, Located
from harness.loading.json_texts import BadJson, count_surrogates, decode_exactly
from harness.loading.sample_rows import (
    COLUMNS,
    INPUTS,
    MAPPINGS,
    TRUTHS,
    misspelt,
    read_row,
)
from harness.system.json_values import scrub_json
from harness.system.suggestions import suggest
from harness.types.errors import Fault

_LISTS = frozenset({*INPUTS, *TRUTHS})
_OBJECTS = frozenset(MAPPINGS)
_JSON = frozenset({"history", "graders", "sessions"})
_LONGEST_CELL = 2**31 - 1
_OTHER_DELIMITERS = {";": "a semicolon", "\t": "a tab", "|": "a bar"}


class _Stop(Exception):  # noqa: N818  (carries a fault; the file cannot be read further)
    def __init__(self, fault: Fault, *, bad_encoding: bool = False) -> None:
        super().__init__(fault.problem)
        self.row = Located(line=fault.line, faults=(fault,), bad_encoding=bad_encoding)


@dataclass(frozen=True, slots=True)
class _Cells:
    """One row: the physical line it begins on, and its cells; or the fault that it is."""

    line: int
    cells: list[str]
    fault: Fault | None = None


class CsvRows:
    """The rows of a CSV file; `file` is how faults name it.

    `strips` says that white space around a cell is no part of it, as in letta-evals.
    """

    def __init__(self, file: str, *, strips: bool = False) -> None:
        self.file = file
        self._strips = strips

    def check(self, lines: Iterable[bytes], census: Census) -> None:
        """Check every row."""
        for row in self._rows(lines, census):
            census.take(row)

    def rows(self, lines: Iterable[bytes]) -> Iterator[Located]:
        """Return every row, read."""
        return self._rows(lines, None)

    def _rows(self, lines: Iterable[bytes], census: Census | None) -> Iterator[Located]:
        try:
            yield from self._read_all(lines, census)
        except _Stop as stop:
            yield stop.row

    def _read_all(self, lines: Iterable[bytes], census: Census | None) -> Iterator[Located]:
        header: list[str] | None = None
        index = 0
        for cells in self._cells(lines):
            if cells.fault:
                yield Located(line=cells.line, faults=(cells.fault,))
            elif _is_blank(cells.cells):
                continue
            elif header is None:
                header = self._header(cells)
                for name, close in misspelt(dict.fromkeys(filter(None, header))):
                    if census is not None:
                        census.warn_column(cells.line, name, close)
            else:
                texts = [cell.strip() for cell in cells.cells] if self._strips else cells.cells
                yield self._row(header, replace(cells, cells=texts), index)
                index += 1

    def _cells(self, lines: Iterable[bytes]) -> Iterator[_Cells]:
        _allow_long_cells()
        reader = csv.reader(self._texts(lines), strict=True)
        while True:
            line = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield _Cells(line, [], self._bad_csv(line, str(error)))
            else:
                yield _Cells(line, cells)

    def _texts(self, lines: Iterable[bytes]) -> Iterator[str]:
        for number, line in enumerate(lines, 1):
            if b"\0" in line:
                column = line.index(b"\0") + 1
                raise _Stop(self._fault(number, column, "the file holds a NUL character"))
            try:
                yield line.decode()
            except UnicodeDecodeError as error:
                fault = bad_byte(self.file, number, line[: error.start], line[error.start])
                raise _Stop(fault, bad_encoding=True) from error

    def _bad_csv(self, line: int, problem: str) -> Fault:
        if "unexpected end of data" in problem:
            return self._fault(
                line, 0, "a quoted cell of this row is never closed", 'close its `"`'
            )
        if "expected after" in problem:
            allowed = 'double the quotes inside of a quoted cell: `""`'
            return self._fault(line, 0, "something follows the end of a quoted cell", allowed)
        if "new-line character" in problem:
            allowed = "end rows with a line feed, or quote the cell"
            return self._fault(line, 0, "a cell holds a bare carriage return", allowed)
        return self._fault(line, 0, f"this is no CSV: {problem}")

    def _header(self, cells: _Cells) -> list[str]:
        names = [name.strip() for name in cells.cells]
        twice = [name for name, count in Counter(names).items() if count > 1 and name]
        if twice:
            raise _Stop(self._fault(cells.line, 0, f'two columns are called "{twice[0]}"'))
        if not any(name in INPUTS for name in names):
            raise _Stop(self._fault(cells.line, 0, *_about_header(names)))
        return names

    def _row(self, header: list[str], cells: _Cells, index: int) -> Located:
        line, given = cells.line, cells.cells
        if len(given) != len(header):
            problem = f"the row has {len(given)} cells for {len(header)} columns"
            return Located(line=line, faults=(self._fault(line, 0, problem),))
        faults: list[Fault] = []
        columns: dict[str, Any] = {}
        surrogates = 0
        for number, (name, cell) in enumerate(zip(header, given, strict=True), 1):
            if not cell:
                continue
            if not name:
                faults.append(self._fault(line, 0, f"column {number} has a cell but no name"))
                continue
            try:
                columns[name] = value = _value(name, cell)
            except BadJson as error:
                faults.append(self._fault(line, 0, error.problem, "a JSON object", path=name))
                continue
            if not isinstance(value, str) and (lone := count_surrogates(value)):
                surrogates += lone
                columns[name] = scrub_json(value)
        if faults:
            return Located(line=line, faults=tuple(faults))
        read = read_row(columns, index)
        faults = [
            self._fault(line, 0, problem, allowed, path=column)
            for column, problem, allowed in read.problems
        ]
        return Located(line=line, read=read, faults=tuple(faults), surrogates=surrogates)

    def _fault(
        self, line: int, column: int, problem: str, allowed: str = "", path: str = ""
    ) -> Fault:
        return Fault(
            file=self.file, line=line, column=column, path=path, problem=problem, allowed=allowed
        )


def _allow_long_cells() -> None:
    """Let cells be of any length.

    The limit is the process's own; readers have none of their own. It is only ever raised, so that
    readers in other threads go on as they are, and never restored: one of them may need it still.
    """
    if csv.field_size_limit() < _LONGEST_CELL:
        csv.field_size_limit(_LONGEST_CELL)


def _is_blank(cells: list[str]) -> bool:
    """Say whether a row is a blank line, of white space or of commas alone."""
    return not any(cells) or (len(cells) == 1 and not cells[0].strip())


def _about_header(names: list[str]) -> tuple[str, str]:
    problem = 'there is no column "input"'
    if len(names) == 1:
        for delimiter, word in _OTHER_DELIMITERS.items():
            if delimiter in names[0]:
                return problem, f"the cells seem to be separated by {word}; use a comma"
    further = [name for name in names if name and name not in COLUMNS]
    close = next((name for name in further if suggest(name, INPUTS).startswith("did")), None)
    return problem, f'is "{close}" meant for it?' if close else "the first row names the columns"


def _value(name: str, cell: str) -> Any:
    """Return the value of a cell: its text, a JSON list of texts, or for some columns an object.

    Raises:
        BadJson: a column that wants JSON holds something else.
    """
    if name in _OBJECTS:
        value = decode_exactly(cell)
        if not isinstance(value, dict):
            raise BadJson("the cell holds JSON that is no object")
        return value
    if name in _JSON:
        return decode_exactly(cell)
    if name == "tags":
        return _texts(cell) or [tag.strip() for tag in cell.split(",") if tag.strip()]
    return (_texts(cell) or cell) if name in _LISTS else cell


def _texts(cell: str) -> list[str] | None:
    """Return the texts of a cell that holds a JSON list of texts; None for every other cell."""
    if not cell.strip().startswith("["):
        return None
    try:
        value = decode_exactly(cell.strip())
    except BadJson:
        return None
    is_texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return value if is_texts and value else None
