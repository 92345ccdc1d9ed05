"""Rows of a JSONL file: one JSON object a line, read twice.

The survey decodes every line fast and looks closer only where something is unusual; a line that
cannot be decoded is read again, slowly, to say exactly what is wrong with it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import msgspec

from harness.loading.census import Census, Located
from harness.loading.encodings import BOM, bad_byte
from harness.loading.json_texts import (
    BadJson,
    count_surrogates,
    decode_object,
    member_columns,
    read_json,
)
from harness.loading.sample_rows import (
    COLUMNS,
    IDS,
    INPUTS,
    MAPPINGS,
    TRUTHS,
    ReadRow,
    Written,
    found,
    misspelt,
    read_row,
)
from harness.system.json_values import scrub_json
from harness.types.errors import Fault
from harness.types.samples import Sample

_NOTHING = type(None)
_MOST_PLANS = 1000
_TYPES: Mapping[str, frozenset[type]] = {
    **dict.fromkeys(IDS, frozenset({str, int})),
    **dict.fromkeys(INPUTS, frozenset({str, list})),
    **dict.fromkeys(TRUTHS, frozenset({str, int, bool, list, _NOTHING})),
    **dict.fromkeys(MAPPINGS, frozenset({dict, _NOTHING})),
    "tags": frozenset({list, str, _NOTHING}),
}


class _PlainRow(msgspec.Struct, forbid_unknown_fields=True):
    """A row of the most usual shape, for which there is nothing to decide."""

    id: str
    input: str | tuple[str, ...]
    ground_truth: str | tuple[str, ...] | None = None
    tags: tuple[str, ...] = ()


_plain_decoder = msgspec.json.Decoder(_PlainRow)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a row whose columns have certain types is checked fast.

    `lists` are columns that hold lists of texts; `truth` is the column that must have one text
    for each turn of the input.
    """

    id: str | None
    input: str
    lists: tuple[str, ...]
    truth: str | None


class JsonlRows:
    """The rows of a JSONL file; `file` is how faults name it."""

    def __init__(self, file: str) -> None:
        self.file = file

    def survey(self, source: BinaryIO, census: Census, update: Callable[[bytes], object]) -> None:
        """Check every row; `update` is fed the bytes of the file.

        The loop is written out, because it runs once a line: a million lines take some two
        seconds. Whatever is unusual goes to `_look_closer`.
        """
        plans: dict[tuple[str | type, ...], Plan | None] = {}
        hashes, meet, tags = census.hashes, census.meet, ()
        selecting = bool(census.selection.ids or census.selection.tags)
        for number, raw in enumerate(source, 1):
            update(raw)
            line = raw.removeprefix(BOM) if number == 1 else raw
            try:
                row = decode_object(line)
                kinds: tuple[str | type, ...] = (*row, *map(type, row.values()))
                plan = plans[kinds] if kinds in plans else self._plan(row, number, census, plans)
                fits = (
                    plan
                    and row[plan.input]
                    and (not plan.lists or _lists_fit(row, plan))
                    and _has_unique_keys(line, row)
                )
            except Exception:  # noqa: BLE001  (whatever it is, the closer look says it)
                self._look_closer(line, number, census)
                continue
            given = row[plan.id] if plan and plan.id else str(census.count)
            sample_id = given if type(given) is str else str(given)
            if not fits or not sample_id:
                self._look_closer(line, number, census)
                continue
            census.count += 1
            if selecting:
                tags = row.get("tags") or ()
                meet(sample_id, hash(sample_id), (tags,) if type(tags) is str else tags)
                continue
            hashed = hash(sample_id)
            if hashed in hashes:
                census.suspects.add(hashed)
            hashes.add(hashed)
            census.selected += 1

    def rows(self, source: BinaryIO, update: Callable[[bytes], object]) -> Iterator[Located]:
        """Give every row, read; of a file that was surveyed."""
        index = 0
        for number, raw in enumerate(source, 1):
            update(raw)
            line = raw.removeprefix(BOM) if number == 1 else raw
            row = _read_plain(line, number) or self._read(line, number, index)
            if row is not None:
                index += 1
                yield row

    def _look_closer(self, line: bytes, number: int, census: Census) -> None:
        located = self._read(line, number, census.count)
        if located is not None:
            census.take(located)

    def _plan(
        self,
        row: dict[str, Any],
        number: int,
        census: Census,
        plans: dict[tuple[str | type, ...], Plan | None],
    ) -> Plan | None:
        """Plan the check of rows like this one; what can be said of its columns is said once."""
        if not COLUMNS.issuperset(row):
            for name, close in misspelt(row):
                census.warn_column(number, name, close)
        plan = _make_plan(row)
        if len(plans) < _MOST_PLANS:
            plans[(*row, *map(type, row.values()))] = plan
        return plan

    def _read(self, line: bytes, number: int, index: int) -> Located | None:
        """Read one line; None for a blank one."""
        if not line.strip():
            return None
        columns, surrogates = _decode(line), 0
        if columns is None:
            exact = self._read_exactly(line, number)
            if isinstance(exact, Located):
                return exact
            columns, surrogates = exact
        columns = _with_written(columns, line)
        read = read_row(columns, index)
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
            value = read_json(text)
        except BadJson as error:
            problem = error.problem
            if not line.endswith(b"\n") and "before it is complete" in problem:
                problem = "the last line of the file is torn: the JSON ends before it is complete"
            fault = self._fault(number, error.column, problem, "one JSON object a line")
            return Located(line=number, faults=(fault,))
        if not isinstance(value, dict):
            fault = self._fault(number, 1, f"found {found(value)}", "one JSON object a line")
            return Located(line=number, faults=(fault,))
        surrogates = count_surrogates(value)
        return (scrub_json(value) if surrogates else value), surrogates

    def _fault(
        self, line: int, column: int, problem: str, allowed: str = "", path: str = ""
    ) -> Fault:
        return Fault(
            file=self.file, line=line, column=column, path=path, problem=problem, allowed=allowed
        )


def _read_plain(line: bytes, number: int) -> Located | None:
    """Read a line of the usual shape; None for any other."""
    try:
        row = _plain_decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    sample = Sample(id=row.id, input=row.input, ground_truth=row.ground_truth, tags=row.tags)
    return Located(line=number, read=ReadRow(sample=sample, id_is_text=True))


def _decode(line: bytes) -> dict[str, Any] | None:
    """Give the row of a line; None where only the slow reading can say what it is."""
    try:
        columns: dict[str, Any] = decode_object(line)
    except Exception:  # noqa: BLE001  (what is refused here, the slow reading explains)
        return None
    return columns if _has_unique_keys(line, columns) else None


def _make_plan(row: Mapping[str, Any]) -> Plan | None:
    """Plan the fast check; None for rows that need the closer look."""
    ids, inputs, truths = ([name for name in g if name in row] for g in (IDS, INPUTS, TRUTHS))
    further = not COLUMNS.issuperset(row)
    if len(inputs) != 1 or len(ids) > 1 or len(truths) > 1 or (further and "metadata" in row):
        return None
    if "history" in row or "graders" in row:
        return None
    if any(type(row[name]) not in types for name, types in _TYPES.items() if name in row):
        return None
    lists = tuple(name for name in (*inputs, *truths, "tags") if type(row.get(name)) is list)
    truth = truths[0] if truths and truths[0] in lists else None
    if truth and inputs[0] not in lists:
        return None
    return Plan(id=ids[0] if ids else None, input=inputs[0], lists=lists, truth=truth)


def _lists_fit(row: dict[str, Any], plan: Plan) -> bool:
    """Say whether the lists hold texts; raises TypeError where one holds something else."""
    for name in plan.lists:
        "".join(row[name])
    turns = row[plan.input]
    if type(turns) is list and not all(turns):
        return False
    return plan.truth is None or len(row[plan.truth]) == len(turns)


def _has_unique_keys(line: bytes, row: dict[str, Any]) -> bool:
    """Say whether the keys that were decoded are all that stand in the line.

    Every key is followed by a colon, so a line with as many `":` as keys has no key twice. Where
    a text holds `":` too, or white space stands before a colon, the answer is no; the closer
    look then finds out.
    """
    if b" :" in line:
        return False
    # One byte is found much faster than two.
    if (b"\t" in line and b"\t:" in line) or (b"\r" in line and b"\r:" in line):
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
    texts = read_json(line.decode(), numbers_as_text=True)
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
