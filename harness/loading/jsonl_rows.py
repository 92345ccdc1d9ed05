"""Rows of a JSONL file: one JSON object a line, read twice.

A row of a usual shape is decoded and checked fast, by its types; any other is read exactly, so
that what is wrong with it can be said.
"""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import msgspec

from harness.documents.encodings import bad_byte
from harness.documents.nodes import describe_value
from harness.loading.census import MOST_IDS, Census, Located
from harness.loading.json_texts import (
    BadJson,
    count_surrogates,
    decode_exactly,
    decode_fast,
    member_columns,
)
from harness.loading.sample_rows import (
    COLUMNS,
    IDS,
    IN_METADATA,
    TRUTHS,
    ReadRow,
    Written,
    misspelt,
    read_row,
)
from harness.system.json_values import scrub_json
from harness.types.errors import Fault
from harness.types.samples import Sample

_MOST_SHAPES = 1000
_Text = Annotated[str, msgspec.Meta(min_length=1)]
_Prompt = _Text | Annotated[tuple[_Text, ...], msgspec.Meta(min_length=1)] | None
_Truth = str | int | bool | tuple[str, ...] | None
_Object = dict[str, Any] | None


class _UsualRow(msgspec.Struct, gc=False):
    """A row for which the types of its columns say enough; it may have further columns."""

    id: _Text | int | None = None
    sample_id: _Text | int | None = None
    input: _Prompt = None
    prompt: _Prompt = None
    ground_truth: _Truth = None
    ideal: _Truth = None
    tags: str | tuple[str, ...] | None = None
    metadata: _Object = None
    extra_vars: _Object = None
    agent_args: _Object = None
    rubric_vars: _Object = None
    history: None = None
    graders: None = None
    sessions: None = None
    rubric: str | None = None
    rubric_path: None = None


class _PlainRow(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A row of the plainest shape, which makes a sample as it is."""

    id: str
    input: str | tuple[str, ...]
    ground_truth: str | tuple[str, ...] | None = None
    tags: tuple[str, ...] = ()
    metadata: _Object = None


_decode_plain = msgspec.json.Decoder(_PlainRow).decode


class JsonlRows:
    """The rows of a JSONL file; `file` is how faults name it."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._shapes: set[tuple[str, ...]] = set()

    def check(self, lines: Iterable[bytes], census: Census) -> None:
        """Check every row; a million usual ones take some two seconds."""
        hashes, ids, take_id = census.hashes, census.ids, census.take_id
        selecting = bool(census.selection.ids or census.selection.tags)
        for number, line in enumerate(lines, 1):
            usual = _read_usual(line)
            if usual is None:
                located = self._read(line, number, census.count, census)
                if located is not None:
                    census.take(located)
                continue
            row, columns = usual
            given = row.id if row.sample_id is None else row.sample_id
            sample_id = str(census.count if given is None else given)
            hashed = hash(sample_id)
            census.count += 1
            if not COLUMNS.issuperset(columns):
                self._warn(columns, number, census)
            if selecting:
                take_id(sample_id, hashed, _tags(row))
                continue
            # What `take_id` does; the call would take a tenth of the time.
            if hashed in hashes:
                census.suspects.add(hashed)
            hashes.add(hashed)
            ids.append(sample_id)
            if len(ids) >= MOST_IDS:
                census.look_at_ids()
            census.selected += 1

    def rows(self, lines: Iterable[bytes]) -> Iterator[Located]:
        """Return every row, read; of a file that was checked."""
        index = 0
        for number, line in enumerate(lines, 1):
            row = _read_plain(line, number) or self._read(line, number, index)
            if row is not None:
                index += 1
                yield row

    def _warn(self, columns: dict[str, Any], number: int, census: Census) -> None:
        """Warn of columns that look misspelt; rows of one shape are looked at once."""
        shape = tuple(columns)
        if shape in self._shapes:
            return
        if len(self._shapes) < _MOST_SHAPES:
            self._shapes.add(shape)
        for name, close in misspelt(columns):
            census.warn_column(number, name, close)

    def _read(
        self, line: bytes, number: int, index: int, census: Census | None = None
    ) -> Located | None:
        """Read one line exactly; None for a blank one."""
        if not line.strip():
            return None
        columns, surrogates = _decode(line), 0
        if columns is None:
            exact = self._read_exactly(line, number)
            if isinstance(exact, Located):
                return exact
            columns, surrogates = exact
        if census is not None:
            self._warn(columns, number, census)
        read = read_row(_with_written(columns, line), index)
        faults: tuple[Fault, ...] = ()
        if read.problems:
            places = member_columns(line.decode(errors="replace"))
            faults = tuple(
                self._fault(number, places.get(name.partition("[")[0], 0), problem, allowed, name)
                for name, problem, allowed in read.problems
            )
        return Located(line=number, read=read, faults=faults, surrogates=surrogates)

    def _read_exactly(self, line: bytes, number: int) -> Located | tuple[dict[str, Any], int]:
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            fault = bad_byte(self.file, number, line[: error.start], line[error.start])
            return Located(line=number, faults=(fault,), bad_encoding=True)
        try:
            value = decode_exactly(text)
        except BadJson as error:
            problem = error.problem
            if not line.endswith(b"\n") and "before it is complete" in problem:
                problem = "the last line of the file is torn: the JSON ends before it is complete"
            fault = self._fault(number, error.column, problem, "one JSON object a line")
            return Located(line=number, faults=(fault,))
        if not isinstance(value, dict):
            fault = self._fault(
                number, 1, f"found {describe_value(value)}", "one JSON object a line"
            )
            return Located(line=number, faults=(fault,))
        surrogates = count_surrogates(value)
        return (scrub_json(value) if surrogates else value), surrogates

    def _fault(
        self, line: int, column: int, problem: str, allowed: str = "", path: str = ""
    ) -> Fault:
        return Fault(
            file=self.file, line=line, column=column, path=path, problem=problem, allowed=allowed
        )


def _read_usual(line: bytes) -> tuple[_UsualRow, dict[str, Any]] | None:
    """Read a row of a usual shape, with its columns; None for any other."""
    try:
        columns = decode_fast(line)
        row = msgspec.convert(columns, _UsualRow)
    except Exception:  # noqa: BLE001  (what is refused here, the exact reading explains)
        return None
    prompt = row.prompt if row.input is None else row.input
    truth = row.ideal if row.ground_truth is None else row.ground_truth
    if prompt is None:
        return None
    if type(truth) is tuple and (type(prompt) is str or len(truth) != len(prompt)):
        return None
    if row.metadata and not row.metadata.keys().isdisjoint(columns):
        return None
    return (row, columns) if _has_unique_keys(line, columns) else None


def _read_plain(line: bytes, number: int) -> Located | None:
    """Read a row of the plainest shape, which was checked; None for any other."""
    try:
        row = _decode_plain(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    metadata = row.metadata or {}
    if metadata and not IN_METADATA.isdisjoint(metadata):
        return None
    sample = Sample(
        id=row.id,
        input=row.input,
        ground_truth=row.ground_truth,
        tags=row.tags,
        metadata=metadata,
    )
    return Located(line=number, read=ReadRow(sample=sample, id_is_text=True))


def _tags(row: _UsualRow) -> tuple[str, ...]:
    return (row.tags,) if isinstance(row.tags, str) else row.tags or ()


def _decode(line: bytes) -> dict[str, Any] | None:
    """Return the columns of a line; None where only the exact reading can say what it is."""
    try:
        columns: dict[str, Any] = decode_fast(line)
    except Exception:  # noqa: BLE001  (what is refused here, the exact reading explains)
        return None
    return columns if _has_unique_keys(line, columns) else None


def _has_unique_keys(line: bytes, row: dict[str, Any]) -> bool:
    """Say whether the keys that were decoded are all that the line holds.

    Every key is followed by a colon, so a line with as many `":` as keys has no duplicate key.
    Where a text holds `":` too, or there is white space before a colon, the answer is no; the exact
    reading then finds out.
    """
    # Not by `in`, which first takes the bytes for a number. One byte is found faster than two.
    find = line.find
    if find(b" :") >= 0:
        return False
    if (find(b"\t") >= 0 and find(b"\t:") >= 0) or (find(b"\r") >= 0 and find(b"\r:") >= 0):
        return False
    colons = line.count(b'":')
    return colons == len(row) or colons == _count_keys(row)


def _count_keys(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(_count_keys(v) for v in value.values() if type(v) in _CONTAINERS)
    return sum(_count_keys(item) for item in value if type(item) in _CONTAINERS)


_CONTAINERS = frozenset({dict, list})


def _with_written(columns: dict[str, Any], line: bytes) -> dict[str, Any]:
    """Put numbers that are not whole back as they were written, where they are to be texts."""
    inexact = [name for name in (*IDS, *TRUTHS) if _holds_float(columns.get(name))]
    if not inexact:
        return columns
    texts = decode_exactly(line.decode(), numbers_as_text=True)
    written = {name: _written(columns[name], texts[name]) for name in inexact}
    return {**columns, **written}


def _holds_float(value: Any) -> bool:
    if isinstance(value, list):
        return any(isinstance(item, float) for item in value)
    return isinstance(value, float)


def _written(value: Any, text: Any) -> Any:
    if isinstance(value, list):
        return [_written(item, part) for item, part in zip(value, text, strict=True)]
    return Written(text) if isinstance(value, float) else value
