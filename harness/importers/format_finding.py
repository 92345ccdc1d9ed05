"""Which importer reads a source: the one the user names, or the first that claims it."""

from collections.abc import Iterator, Mapping

from harness.importers.source_files import SourceFile, SourceFolder
from harness.system.suggestions import list_names, suggest
from harness.types.errors import Fault, InputError
from harness.types.imports import Imported, Importer


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


def read_source(
    source: SourceFile | SourceFolder,
    importers: Mapping[str, type[Importer]],
    named: str | None = None,
) -> Iterator[Imported]:
    """Return the conversations of a file, or of a folder or all the files in it.

    Raises:
        InputError: no format claims it, or a record is damaged; with its place.
    """
    chosen = importer_called(named, importers) if named else None
    found = (named, chosen) if named else find_format(source, importers)
    if isinstance(source, SourceFolder) and (found is None or named):
        # A folder that is no format of its own is the files in it.
        for file in source.files():
            yield from read_source(file, importers, named)
        return
    if found is None or found[1] is None:
        problem = "no format is known that looks like this"
        allowed = f"name one with --format: {list_names(list(importers))}"
        raise InputError([Fault(file=source.shown, problem=problem, allowed=allowed)])
    yield from _read(source, found[1])


def _read(source: SourceFile | SourceFolder, importer: Importer) -> Iterator[Imported]:
    try:
        yield from importer.read(source)
    except ValueError as error:
        place, colon, problem = str(error).partition(": ")
        if not colon or not place.startswith(source.shown):
            place, problem = source.shown, str(error)
        raise InputError([Fault(file=place, problem=problem)]) from error
