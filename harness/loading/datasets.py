"""Datasets: checked in one pass, then given sample by sample in another."""

import hashlib
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Protocol

from harness.documents.encodings import BOM, find_other_encoding
from harness.loading.census import (
    ALLOWED_ID,
    GIVEN_AWAY,
    Census,
    Located,
    find_duplicates,
    find_secrets,
)
from harness.loading.csv_rows import CsvRows
from harness.loading.jsonl_rows import JsonlRows
from harness.loading.row_parts import RowParts
from harness.loading.selections import Matches, Selection, effective, refuse_selection
from harness.system.hashing import sha256_of
from harness.system.redaction import known_secrets
from harness.types.code import HubFile
from harness.types.errors import DatasetError, Fault
from harness.types.samples import Sample
from harness.types.suites import Suite

_EVERYTHING = Selection()


class Rows(Protocol):
    """A format of datasets; `lines` are those of the file, without its byte order mark."""

    def check(self, lines: Iterable[bytes], census: Census) -> None:
        """Check every row."""
        ...

    def rows(self, lines: Iterable[bytes]) -> Iterator[Located]:
        """Return every row, read."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """The samples of a suite, checked.

    `count` is how many the selection takes. `sha256` hashes the file as it was checked; `path`
    is None for samples that are written in the suite. `warnings` do not keep it from running: a
    column that looks misspelt, an invalid pattern, lone surrogates that were replaced. `notes`
    say where it was taken from, if that may change; `provenance` names the place.
    """

    count: int
    sha256: str
    path: Path | None = None
    warnings: tuple[Fault, ...] = ()
    notes: tuple[Fault, ...] = ()
    provenance: Mapping[str, str | None] | None = None
    stream: Callable[[], Iterator[tuple[int, Sample]]] = field(repr=False, compare=False)

    def samples(self) -> Iterator[Sample]:
        """Return the selected samples in order, read anew each time.

        Raises:
            DatasetError: the file is not the one that was checked any more.
        """
        return (sample for _, sample in self.stream())


def open_dataset(suite: Suite, selection: Selection = _EVERYTHING) -> Dataset:
    """Check the samples of a suite and select from them, as the suite does where nobody else does.

    Raises:
        DatasetError: with every fault of the dataset (the first hundred), because it cannot be
            fetched, or because the selection takes no sample.
    """
    selection = effective(selection, suite)
    if suite.dataset is None:
        return _inline(suite, selection)
    if isinstance(suite.dataset, HubFile):
        return _fetched(suite, suite.dataset, selection)
    return _read_file(suite, suite.dataset.path, selection, folder=suite.dataset.path.parent)


def _read_file(suite: Suite, path: Path, selection: Selection, *, folder: Path | None) -> Dataset:
    shown = shown_name(suite)
    if not path.is_file():
        raise DatasetError([Fault(file=shown, problem="there is no such file")])
    reading = _Reading(suite, path, selection, RowParts(suite, shown, folder))
    with _opened(path, shown) as source:
        return reading.check(source)


def _fetched(suite: Suite, file: HubFile, selection: Selection) -> Dataset:
    # The client of HTTP takes a noticeable part of a second to load.
    from harness.loading.hub_datasets import fetch  # noqa: PLC0415

    found = fetch(file)
    dataset = _read_file(suite, found.path, selection, folder=None)
    provenance = {
        "source": "huggingface",
        "url": file.text,
        "repo_id": file.repository,
        "path": found.name,
        "revision": file.revision,
        "commit_sha": found.commit,
    }
    moving = Fault(
        file=file.text,
        problem=f"the dataset may change; commit {found.commit} was taken",
        allowed=f"name it: .../resolve/{found.commit}/{found.name}",
    )
    notes = () if found.is_pinned else (moving,)
    return replace(dataset, provenance=provenance, notes=notes)


def shown_name(suite: Suite) -> str:
    """Return the name of the suite's dataset as its faults show it."""
    if suite.dataset is None:
        return suite.source.as_posix() if suite.source else suite.name
    text = suite.dataset.text
    if isinstance(suite.dataset, HubFile) or suite.source is None or Path(text).is_absolute():
        return text
    return (suite.source.parent / text).as_posix()


def _opened(path: Path, shown: str) -> BufferedReader:
    try:
        return path.open("rb")
    except OSError as error:
        problem = f"the dataset cannot be read: {error.strerror}"
        raise DatasetError([Fault(file=shown, problem=problem)]) from error


class _Reading:
    """Reads one file twice: to check it, and to give its samples."""

    def __init__(self, suite: Suite, path: Path, selection: Selection, parts: RowParts) -> None:
        self._path, self._shown = path, shown_name(suite)
        self._selection, self._parts = selection, parts
        self._secrets = known_secrets(suite.secrets)
        strips = suite.dialect == "letta-evals"
        csv = path.suffix.lower() == ".csv"
        self._rows: Rows = CsvRows(self._shown, strips=strips) if csv else JsonlRows(self._shown)
        self._state = self._sha256 = ""

    def check(self, source: BufferedReader) -> Dataset:
        start = source.read(4)
        source.seek(0)
        if other := find_other_encoding(start, self._shown):
            raise DatasetError([other])
        self._state = _state(source)
        self._sha256 = f"sha256:{hashlib.file_digest(source, hashlib.sha256).hexdigest()}"
        census = Census(self._shown, self._selection, self._parts.check, self._secrets)
        _skip_mark(source)
        self._rows.check(source, census)
        if census.suspects:
            census.faults.add(*find_duplicates(self._ids(source), census.suspects, self._shown))
        census.look_at_ids()
        if census.gives_away:
            census.faults.add(*find_secrets(self._ids(source), self._secrets, self._shown))
        # The ids have done their work; a run of a million samples need not hold them.
        census.hashes.clear()
        self._refuse(census)
        limit = self._selection.limit
        return Dataset(
            count=census.selected if limit is None else min(limit, census.selected),
            sha256=self._sha256,
            path=self._path,
            warnings=census.all_warnings(),
            stream=self.stream,
        )

    def _ids(self, source: BufferedReader) -> Iterator[tuple[int, str, bool]]:
        _skip_mark(source)
        for row in self._rows.rows(source):
            if row.read is not None and row.read.sample is not None:
                yield row.line, row.read.sample.id, row.read.id_is_text

    def _refuse(self, census: Census) -> None:
        if faults := census.all_faults():
            raise DatasetError(faults)
        if not census.count:
            problem = "the dataset holds no samples"
            raise DatasetError([Fault(file=self._shown, problem=problem)])

        def ids() -> Iterator[str]:
            with _opened(self._path, self._shown) as source:
                yield from (sample_id for _, sample_id, _ in self._ids(source))

        matches = Matches(
            file=self._shown,
            selected=census.selected,
            ids=census.selected_ids,
            tags=census.tags,
        )
        refuse_selection(self._selection, matches, ids)

    def stream(self) -> Iterator[tuple[int, Sample]]:
        """Return the selected samples with their lines."""
        limit = self._selection.limit
        # `islice` takes no number beyond this; no dataset has as many rows.
        return islice(self._selected(), None if limit is None else min(limit, sys.maxsize))

    def _selected(self) -> Iterator[tuple[int, Sample]]:
        digest = hashlib.sha256()
        with _opened(self._path, self._shown) as source:
            self._compare(_state(source) == self._state)
            digest.update(_skip_mark(source))
            for row in self._rows.rows(_hashed(source, digest.update)):
                self._compare(not row.faults)
                if row.read is None or row.read.sample is None:
                    continue
                sample = row.read.sample
                if not self._selection.takes(sample.id, sample.tags):
                    continue
                yield row.line, self._parts.complete(row, sample)
            self._compare(f"sha256:{digest.hexdigest()}" == self._sha256)

    def _compare(self, same: bool) -> None:  # noqa: FBT001  (reads as an assertion)
        if not same:
            problem = "the dataset has changed since it was checked"
            raise DatasetError([Fault(file=self._shown, problem=problem, allowed="run it again")])


def _state(source: BufferedReader) -> str:
    state = os.fstat(source.fileno())
    return f"{state.st_size} {state.st_mtime_ns}"


def _skip_mark(source: BufferedReader) -> bytes:
    """Go to the first line; return the byte order mark before it, if there is one."""
    source.seek(0)
    if source.read(len(BOM)) == BOM:
        return BOM
    source.seek(0)
    return b""


def _hashed(lines: Iterable[bytes], update: Callable[[bytes], object]) -> Iterator[bytes]:
    for line in lines:
        update(line)
        yield line


def _inline(suite: Suite, selection: Selection) -> Dataset:
    shown = shown_name(suite)
    samples = suite.samples or ()
    if not samples:
        raise DatasetError([Fault(file=shown, path="samples", problem="there are no samples")])
    ids = Counter(sample.id for sample in samples)
    twice = [sample_id for sample_id, count in ids.items() if count > 1]
    if twice:
        problems = [f'duplicate id: the id "{sample_id}"' for sample_id in twice]
        raise DatasetError([Fault(file=shown, path="samples", problem=one) for one in problems])
    secrets = known_secrets(suite.secrets)
    known = [index for index, sample in enumerate(samples) if secrets.stand_in(sample.id)]
    if known:
        places = (f"samples[{index}].id" for index in known)
        raise DatasetError(
            Fault(file=shown, path=place, problem=GIVEN_AWAY, allowed=ALLOWED_ID)
            for place in places
        )
    taken = [sample for sample in samples if selection.takes(sample.id, sample.tags)]
    matches = Matches(
        file=shown,
        selected=len(taken),
        ids=ids,
        tags={tag for sample in samples for tag in sample.tags},
    )
    refuse_selection(selection, matches, lambda: iter(ids))
    taken = taken[: selection.limit]
    return Dataset(
        count=len(taken),
        sha256=sha256_of(*map(_contents, samples)),
        stream=lambda: ((0, sample) for sample in taken),
    )


def _contents(sample: Sample) -> list[object]:
    names = [name for name in Sample.__struct_fields__ if name != "graders"]
    graders = [spec.fingerprint for spec in sample.graders]
    return [*(getattr(sample, name) for name in names), graders]
