"""Results of letta-evals 0.2 to 0.26, in every layout: a folder, or one of its files.

- From 0.17: `suite.json`, a file `MODEL.jsonl` or a folder `MODEL` with `run_N.jsonl`.
- 0.3 to 0.16: `header.json` and `results.jsonl`, in folders `run_N` where there are several runs.
- 0.2: one file of records `header`, `result` and `summary`.

A run is an epoch. What the other files sum up is computed anew, so any of them may be missing, as
after an interrupted run; the last line of such a run may be torn. `suite.json` holds the samples of
the newer results: without it, they are known by their ids alone.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import msgspec

from harness.importers.letta_evals_results import is_result, read_result
from harness.importers.record_fields import field_text
from harness.importers.source_files import SourceFolder
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

    specification: ClassVar[str] = "letta-evals results, 0.2 to 0.26"

    def claims(self, head: Head) -> bool:
        """Say whether a folder has its files, or a file its records."""
        if head.files:
            return bool(_FOLDER_SIGNS & set(head.files))
        first = head.values[0] if head.values else None
        return isinstance(first, Mapping) and (_is_typed(first) or is_result(first) or _sums(first))

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return the conversation of each result.

        Raises:
            ValueError: a file of records holds what is no result.
        """
        if isinstance(source, SourceFolder):
            yield from _read_folder(source, _Suite.beside(source))
        else:
            yield from _read_file(source, _suite_of(source))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Suite:
    """What the files beside the results say: samples by id, and the name of the first grader."""

    samples: Mapping[str, Any] = field(default_factory=dict)
    first_grader: str | None = None

    @staticmethod
    def beside(source: ForeignSource) -> "_Suite":
        found = _Suite()
        for name in ("header.json", "suite.json"):
            file = source.inside(name)
            for _, value in file.values() if file else ():
                found = found.joined(value)
        return found

    def joined(self, record: Any) -> "_Suite":
        """Return it with what a record of it, or of its head, tells."""
        if not isinstance(record, Mapping):
            return self
        config = record.get("config")
        graders = config.get("graders") if isinstance(config, Mapping) else None
        first = next(iter(graders), None) if isinstance(graders, Mapping) else None
        listed = record.get("samples")
        samples = [s for s in listed if isinstance(s, Mapping)] if isinstance(listed, list) else []
        by_id = {field_text(sample, ("id", "sample_id")): sample for sample in samples}
        return _Suite(
            samples={**self.samples, **{key: s for key, s in by_id.items() if key is not None}},
            first_grader=first or self.first_grader,
        )


def _suite_of(file: ForeignSource) -> _Suite:
    """Return the suite of a file of results: beside it, or of one of several runs, above it."""
    suite = _Suite.beside(file)
    if suite == _Suite() and _RUN.fullmatch(file.path.name):
        above = SourceFolder(file.path.parent.parent, file.path.parent.parent.as_posix())
        return _Suite.beside(above)
    return suite


def _read_folder(folder: SourceFolder, suite: _Suite) -> Iterator[Imported]:
    for entry in folder.entries():
        if isinstance(entry, SourceFolder):
            inner = _Suite.beside(entry)
            yield from _read_folder(entry, suite if inner == _Suite() else inner)
        elif entry.path.suffix.lower() in {".jsonl", ".json"}:
            yield from _read_file(entry, suite)


def _read_file(file: ForeignSource, suite: _Suite) -> Iterator[Imported]:
    """Read a file; the last of its results bears the mark of a torn line behind it."""
    last: Imported | None = None
    for place, value in _values_of(file):
        if isinstance(value, Unreadable):
            if last is None:
                raise ValueError(f"{place}: this line is no JSON: {value.problem}")
            last = msgspec.structs.replace(last, unread={**last.unread, TORN_LINE: 1})
            continue
        suite = suite.joined(value) if _is_head(value) else suite
        for result in _results_of(value, place):
            if last is not None:
                yield last
            read = read_result(result, place, suite.samples, suite.first_grader)
            last = msgspec.structs.replace(read, epoch=_epoch_of(file))
    if last is not None:
        yield last


def _values_of(file: ForeignSource) -> Iterator[tuple[str, Any]]:
    """Return the values of a file; only a last line without its end may be no JSON."""
    for place, value in file.values(lenient=True):
        if isinstance(value, Unreadable) and value.text.endswith("\n"):
            raise ValueError(f"{place}: this line is no JSON: {value.problem}")
        yield place, value


def _is_head(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("type") == "header"


def _results_of(value: Any, place: str) -> Iterator[Mapping[str, Any]]:
    """Return the result that a record holds; one that sums up holds none."""
    if isinstance(value, Mapping):
        inner = value.get("result")
        if value.get("type") == "result" and isinstance(inner, Mapping):
            yield inner
            return
        if is_result(value):
            yield value
            return
        if _is_typed(value) or _sums(value):
            return
    raise ValueError(f"{place}: the record is no result of letta-evals")


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
