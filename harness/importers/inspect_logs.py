"""Logs of Inspect (UK AI Security Institute), log versions 1 and 2: `.json` and `.eval`.

An `.eval` file is a ZIP archive with one entry a sample, and is read sample by sample; that of a
run which was interrupted has no `header.json`, but `_journal/start.json`. A sample is a
conversation; its scores are outcomes, its store is a snapshot. A log without samples holds no
conversation, whatever its results say.
"""

import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from zipfile import BadZipFile, ZipFile, ZipInfo

from harness.importers.inspect_samples import read_sample
from harness.importers.zip_entries import read_entry
from harness.messages.contents import shape_error
from harness.system.json_reading import JsonReader
from harness.system.json_values import json_problem
from harness.types.imports import ForeignSource, Head, Imported

_VERSIONS = (1, 2)
_MOST_BYTES = 200_000_000  # of one entry, unpacked
_SAMPLE = re.compile(r"samples/[^/]+\.json")
_CHUNKED = re.compile(r"samples/.+/sample\.json")
_HEADERS = ("header.json", "_journal/start.json")
_BEGINNING = re.compile(r'\s*\{\s*"version"\s*:\s*[0-9]+\s*,\s*"status"\s*:')
_ZIP = "PK\x03\x04"


@dataclass(frozen=True, slots=True)
class InspectLogs:
    """Inspect: logs as `.json` and `.eval`, one conversation a sample."""

    specification: ClassVar[str] = "Inspect evaluation logs, version 1 and 2 (.json, .eval)"

    def claims(self, head: Head) -> bool:
        """Say whether the file is an archive of Inspect, or a log."""
        if head.text:
            is_archive = head.name.lower().endswith(".eval") and head.text.startswith(_ZIP)
            return is_archive or bool(_BEGINNING.match(head.text))
        first = head.values[0] if head.values else None
        if not isinstance(first, Mapping) or not isinstance(first.get("eval"), Mapping):
            return False
        return "status" in first and ("version" in first or "samples" in first)

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return a conversation for each sample.

        Raises:
            ValueError: it is no log, one of another version, or a damaged archive.
        """
        if source.path.suffix.lower() == ".eval":
            yield from _read_archive(source)
            return
        log = _load(source.text(), source.shown, source)
        task = _task_of(log, source.shown)
        samples = log.get("samples")
        if samples is not None and not isinstance(samples, list):
            raise shape_error(f"{source.shown}: samples must be a list", samples)
        for index, sample in enumerate(samples or ()):
            yield read_sample(sample, task, f"{source.shown}.samples[{index}]")


def _load(text: str, place: str, source: ForeignSource) -> Any:
    """Parse JSON as Inspect writes it: what has no number is NaN, which is nothing here."""
    reader = JsonReader(_nothing)
    try:
        value = reader.read(text)
    except ValueError as error:
        raise ValueError(f"{place}: this {json_problem(error)}") from error
    source.losses.add_json(place, reader.losses)
    return value


def _nothing(_constant: str) -> None:
    return None


def _task_of(log: Any, place: str) -> Mapping[str, Any]:
    """Return what a log, or its header, says of the evaluation; it has to be of a known version."""
    task = log.get("eval") if isinstance(log, Mapping) else None
    if not isinstance(task, Mapping):
        raise shape_error(f"{place}: this is no log of Inspect: eval must be an object", task)
    version = log.get("version", 1)
    if version not in _VERSIONS:
        raise ValueError(f"{place}: the log is of version {version}; this Regrade reads 1 and 2")
    return task


def _read_archive(source: ForeignSource) -> Iterator[Imported]:
    try:
        with ZipFile(source.path) as archive:
            yield from _read_entries(archive, source)
    # `zipfile` raises NotImplementedError for packings that it does not know.
    except (BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
        reason = str(error) or type(error).__name__
        raise ValueError(f"{source.shown}: this archive cannot be read: {reason}") from error


def _read_entries(archive: ZipFile, source: ForeignSource) -> Iterator[Imported]:
    shown = source.shown
    entries = {info.filename: info for info in archive.infolist()}
    if any(map(_CHUNKED.fullmatch, entries)):
        raise ValueError(
            f"{shown}: its samples are in pieces (log version 3); "
            "`inspect log convert` writes them whole"
        )
    header = next((entries[name] for name in _HEADERS if name in entries), None)
    if header is None:
        raise ValueError(f"{shown}: the archive has no header.json: it is no log of Inspect")
    task = _task_of(_entry(archive, header, source), f"{shown}:{header.filename}")
    for name, info in entries.items():
        if _SAMPLE.fullmatch(name):
            yield read_sample(_entry(archive, info, source), task, f"{shown}:{name}")


def _entry(archive: ZipFile, info: ZipInfo, source: ForeignSource) -> Any:
    place = f"{source.shown}:{info.filename}"
    try:
        data = read_entry(archive, info, _MOST_BYTES)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    return _load(source.losses.decode(place, data), place, source)
