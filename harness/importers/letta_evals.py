"""Results of letta-evals up to 0.26, in every layout: a folder, or one of its files.

- From 0.17: `suite.json`, a file `MODEL.jsonl` or a folder `MODEL` with `run_N.jsonl`.
- 0.3 to 0.16: `header.json` and `results.jsonl`, in folders `run_N` where there are several runs.
- 0.2: one file of records `header`, `result` and `summary`; before it, one object of all `results`.

A run is an epoch. What the other files sum up is computed anew, so any of them may be missing, as
after an interrupted run; the last line of such a run may be torn. `suite.json` holds the samples of
the newer results: without it, they are known by their ids alone.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from harness.importers.letta_evals_results import EvalFacts, is_result, read_result
from harness.importers.source_files import SourceFolder
from harness.messages.contents import shape_error
from harness.types.imports import ForeignSource, Head, Imported, Unreadable

TORN_LINE = "torn_line"
"""What `unread` calls the last line of an interrupted run, counted for the record before it."""

_FOLDER_SIGNS = frozenset({"suite.json", "header.json", "aggregate_stats.json"})
_RUN = re.compile(r"run_([0-9]{1,6})(\.jsonl)?")
_TYPES = ("header", "result", "summary")
_SUMMING_UP = (
    frozenset({"suite", "config", "samples"}),
    frozenset({"suite", "models"}),
    frozenset({"model", "runs"}),
    frozenset({"model", "n_total"}),
    frozenset({"num_runs", "individual_run_metrics"}),
)


@dataclass(frozen=True, slots=True)
class LettaEvals:
    """Results of letta-evals: a folder or file of any version."""

    specification: ClassVar[str] = "letta-evals results, up to 0.26"

    def claims(self, head: Head) -> bool:
        """Say whether a folder has its files, or a file its records."""
        if head.files:
            return bool(_FOLDER_SIGNS & set(head.files))
        first = head.values[0] if head.values else None
        if not isinstance(first, Mapping):
            return False
        is_whole = _is_whole(first) and "suite" in first
        return is_whole or _is_typed(first) or is_result(first) or _sums(first)

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return the conversation of each result.

        Raises:
            ValueError: a file of records holds what is no result.
        """
        if isinstance(source, SourceFolder):
            yield from _read_folder(source, _facts_beside(source))
        else:
            yield from _read_file(source, _facts_of(source))


def _facts_beside(source: ForeignSource) -> EvalFacts:
    """Return what the files in a folder, or beside a file, tell of the results."""
    found = EvalFacts()
    for name in ("header.json", "suite.json"):
        file = source.inside(name)
        for _, value in file.values() if file else ():
            found = found.joined(value)
    return found


def _facts_of(file: ForeignSource) -> EvalFacts:
    """Return what is told of a file of results: beside it, or of one of several runs, above it."""
    found = _facts_beside(file)
    if found == EvalFacts() and _RUN.fullmatch(file.path.name):
        above = file.path.parent.parent
        return _facts_beside(SourceFolder(above, above.as_posix()))
    return found


def _read_folder(folder: SourceFolder, facts: EvalFacts) -> Iterator[Imported]:
    for entry in folder.entries():
        if isinstance(entry, SourceFolder):
            inner = _facts_beside(entry)
            yield from _read_folder(entry, facts if inner == EvalFacts() else inner)
        elif entry.path.suffix.lower() in {".jsonl", ".json"}:
            yield from _read_file(entry, facts)


def _read_file(file: ForeignSource, facts: EvalFacts) -> Iterator[Imported]:
    """Read a file; the last of its results bears the mark of a torn line behind it."""
    last: Imported | None = None
    for place, value in _values_of(file):
        if isinstance(value, Unreadable):
            if last is None:
                raise ValueError(f"{place}: this line {value.problem}")
            last = msgspec.structs.replace(last, unread={**last.unread, TORN_LINE: 1})
            continue
        facts = facts.joined(value) if _is_head(value) else facts
        for result_place, result in _results_of(value, place):
            if last is not None:
                yield last
            read = read_result(result, result_place, facts)
            last = msgspec.structs.replace(read, epoch=_epoch_of(file))
    if last is not None:
        yield last


def _values_of(file: ForeignSource) -> Iterator[tuple[str, Any]]:
    """Return the values of a file; only a last line without its end may be no JSON."""
    for place, value in file.values(lenient=True):
        if isinstance(value, Unreadable) and value.text.endswith("\n"):
            raise ValueError(f"{place}: this line {value.problem}")
        yield place, value


def _is_head(value: Any) -> bool:
    return isinstance(value, Mapping) and (value.get("type") == "header" or _is_whole(value))


def _is_whole(record: Mapping[str, Any]) -> bool:
    """Say whether a record is all results of a run, as before 0.2."""
    return "config" in record and isinstance(record.get("results"), list)


def _results_of(value: Any, place: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Return the results that a record holds, with their places; one that sums up holds none."""
    if isinstance(value, Mapping):
        inner = value.get("result")
        if value.get("type") == "result" and isinstance(inner, Mapping):
            yield place, inner
            return
        if is_result(value):
            yield place, value
            return
        if _is_whole(value):
            yield from _listed(value["results"], place)
            return
        if _is_typed(value) or _sums(value):
            return
    raise ValueError(f"{place}: the record is no result of letta-evals")


def _listed(results: list[Any], place: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for index, result in enumerate(results):
        where = f"{place}.results[{index}]"
        if not isinstance(result, Mapping):
            raise shape_error(f"{where}: a result must be an object", result)
        yield where, result


def _is_typed(record: Mapping[str, Any]) -> bool:
    """Say whether a record is one of those that older versions mark by their type."""
    kind = record.get("type")
    if kind == "result":
        return isinstance(record.get("result"), Mapping)
    needed = {"header": "config", "summary": "metrics"}
    return isinstance(kind, str) and kind in needed and needed[kind] in record


def _sums(record: Mapping[str, Any]) -> bool:
    return any(signs <= record.keys() for signs in _SUMMING_UP)


def _epoch_of(file: ForeignSource) -> int | None:
    """Return the epoch that a file's name or its folder's tells; runs are counted from 1."""
    for name in (file.path.name, file.path.parent.name):
        if found := _RUN.fullmatch(name):
            return max(int(found[1]) - 1, 0)
    return None
