"""Which importer reads a source: the one the user names, or the first that claims it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from harness.importers.source_files import SourceFile, SourceFolder
from harness.system.suggestions import suggest
from harness.types.errors import Fault, InputError
from harness.types.imports import Imported, Importer

_TEXT_SUFFIXES = (".json", ".jsonl", ".ndjson")
_SUFFIXES = (*_TEXT_SUFFIXES, ".parquet")


def importer_called(name: str, importers: Mapping[str, type[Importer]]) -> Importer:
    """Return the importer of a format that the user named.

    Raises:
        InputError: there is no such format.
    """
    if name not in importers:
        problem = f'there is no format "{name}"'
        raise InputError(
            [Fault(file="--format", problem=problem, allowed=suggest(name, importers))]
        )
    return importers[name]()


def find_format(
    source: SourceFile | SourceFolder, importers: Mapping[str, type[Importer]]
) -> tuple[str, Importer] | None:
    """Return the format that claims a source, and its importer; None where none does."""
    head = source.head()
    for name, kind in importers.items():
        importer = kind()
        if importer.claims(head):
            return name, importer
    return None


def _left_out(_file: str) -> None:
    """Hear nothing."""


def read_source(
    source: SourceFile | SourceFolder,
    importers: Mapping[str, type[Importer]],
    named: str | None = None,
    left_out: Callable[[str], None] = _left_out,
) -> Iterator[Imported]:
    """Return the conversations of a file, or of a folder or all the files in it.

    A folder that is no record of a format as a whole is all that is in it, folders included;
    hidden files aside. `left_out` hears of the files in a folder that are no records: those that
    hold no JSON, with a format that is `named` those that do not look like it, and with the reason
    what is passed over: links, devices, and runs that graded this folder.

    Raises:
        InputError: no format claims it, or a record is damaged; with its place.
    """
    return (record for _, record in read_with_formats(source, importers, named, left_out))


def read_with_formats(
    source: SourceFile | SourceFolder,
    importers: Mapping[str, type[Importer]],
    named: str | None = None,
    left_out: Callable[[str], None] = _left_out,
) -> Iterator[tuple[str, Imported]]:
    """Return the conversations as `read_source` does, each with the name of its format."""
    if named is not None:
        importers = {named: type(importer_called(named, importers))}
    reading = _Reading(importers, named, left_out)
    if isinstance(source, SourceFolder):
        yield from reading.folder(source)
    else:
        yield from reading.file(source)


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads sources by some importers: all, or the one that is named."""

    importers: Mapping[str, type[Importer]]
    named: str | None
    left_out: Callable[[str], None]

    def file(self, source: SourceFile) -> Iterator[tuple[str, Imported]]:
        """Read a file that the user named: it has to be of a format."""
        if self.named is not None:
            yield from _read(source, self.named, self.importers[self.named]())
            return
        found = find_format(source, self.importers)
        if found is None:
            source.check()
            raise self._unknown(source)
        yield from _read(source, *found)

    def folder(self, source: SourceFolder) -> Iterator[tuple[str, Imported]]:
        """Read a folder as one record, or all that is in it."""
        found = find_format(source, self.importers)
        self._pass_over(source, wholly=found is not None)
        if found is not None:
            yield from _read(source, *found)
            return
        for entry in source.entries():
            if isinstance(entry, SourceFolder):
                yield from self.folder(entry)
            else:
                yield from self.inner_file(entry)

    def _pass_over(self, source: SourceFolder, *, wholly: bool) -> None:
        for place in source.passed_over():
            self.left_out(place)
        for entry in source.entries() if wholly else ():
            if isinstance(entry, SourceFolder):
                self._pass_over(entry, wholly=True)

    def inner_file(self, source: SourceFile) -> Iterator[tuple[str, Imported]]:
        """Read a file that lies in a folder: a note beside the records is none."""
        found = find_format(source, self.importers)
        if found is not None:
            yield from _read(source, *found)
            return
        source.check()
        if self.named is None and _should_be_records(source):
            raise self._unknown(source)
        self.left_out(source.shown)

    def _unknown(self, source: SourceFile) -> InputError:
        if source.path.suffix.lower() in _TEXT_SUFFIXES:
            # These say so where it is in another encoding, or damaged.
            source.text()
            next(source.values(), None)
        problem = "no format is known that looks like this"
        allowed = f"name one with --format: {', '.join(self.importers)}"
        return InputError([Fault(file=source.shown, problem=problem, allowed=allowed)])


def _should_be_records(source: SourceFile) -> bool:
    head = source.head()
    return bool(head.values) or source.path.suffix.lower() in _SUFFIXES


def _read(
    source: SourceFile | SourceFolder, name: str, importer: Importer
) -> Iterator[tuple[str, Imported]]:
    try:
        for record in importer.read(source):
            yield name, record
    except ValueError as error:
        place, colon, problem = str(error).partition(": ")
        if not colon or not place.startswith(source.shown):
            place, problem = source.shown, str(error)
        raise InputError([Fault(file=place, problem=problem)]) from error
