"""Which importer reads a source: the one the user names, or the first that claims it."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from harness.importers.source_files import SourceFile, SourceFolder
from harness.system.suggestions import suggest
from harness.types.errors import Fault, InputError
from harness.types.events import SystemEvent, UserMessage
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
    hidden files aside. `left_out` hears of what in a folder is not read, with the reason: files
    without JSON, or of no format that is known, or not of the one that is `named`; links, devices,
    and runs that graded this folder.

    Raises:
        InputError: no format claims it, or nothing in it; a record is damaged, or nothing of it is
            understood; with its place.
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
        importer_called(named, importers)
    reading = _Reading(importers, named, left_out)
    if isinstance(source, SourceFolder):
        yield from reading.top_folder(source)
    else:
        yield from reading.file(source)


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads sources by all importers, or by the one that is named.

    `strange` are the files of a folder that hold JSON and are of no such format.
    """

    known: Mapping[str, type[Importer]]
    named: str | None
    left_out: Callable[[str], None]
    strange: list[SourceFile] = field(default_factory=list)

    def file(self, source: SourceFile) -> Iterator[tuple[str, Imported]]:
        """Read a file that the user named: it has to be of a format."""
        if source.is_empty():
            raise InputError([Fault(file=source.shown, problem="it holds no record")])
        found = self._find(source)
        if self.named is not None:
            importer = self.known[self.named]()
            yield from self._read(source, self.named, importer, told=found is not None)
        elif found is not None:
            yield from self._read(source, *found, told=True)
        else:
            source.check()
            raise self._unknown(source)

    def top_folder(self, source: SourceFolder) -> Iterator[tuple[str, Imported]]:
        """Read a folder that the user named: something in it has to be of a format."""
        is_any = False
        for found in self.folder(source):
            is_any = True
            yield found
        if self.strange and not is_any:
            raise self._unknown(self.strange[0])

    def folder(self, source: SourceFolder) -> Iterator[tuple[str, Imported]]:
        """Read a folder as one record, or all that is in it."""
        found = self._find(source)
        self._pass_over(source, wholly=found is not None)
        if found is not None:
            yield from self._read(source, *found, told=True)
            return
        for entry in source.entries():
            if isinstance(entry, SourceFolder):
                yield from self.folder(entry)
            else:
                yield from self.inner_file(entry)

    def _find(self, source: SourceFile | SourceFolder) -> tuple[str, Importer] | None:
        asked = self.known if self.named is None else {self.named: self.known[self.named]}
        return find_format(source, asked)

    def _pass_over(self, source: SourceFolder, *, wholly: bool) -> None:
        for place in source.passed_over():
            self.left_out(place)
        for entry in source.entries() if wholly else ():
            if isinstance(entry, SourceFolder):
                self._pass_over(entry, wholly=True)

    def inner_file(self, source: SourceFile) -> Iterator[tuple[str, Imported]]:
        """Read a file that lies in a folder: what is of no format is left out, unless damaged."""
        found = self._find(source)
        if found is not None:
            yield from self._read(source, *found, told=True)
            return
        source.check()
        if source.is_empty():
            self.left_out(f"{source.shown} (empty)")
        elif _should_be_records(source):
            self.strange.append(source)
            reason = "of no format that is known" if self.named is None else f"not {self.named}"
            self.left_out(f"{source.shown} ({reason})")
        else:
            self.left_out(source.shown)

    def _unknown(self, source: SourceFile) -> InputError:
        if source.path.suffix.lower() in _TEXT_SUFFIXES:
            # These say so where it is in another encoding, or damaged.
            source.text()
            next(source.values(), None)
        if self.named is not None:
            return self._not_understood(source, source.shown, self.named)
        problem = "no format is known that looks like this"
        allowed = f"name one with --format: {', '.join(self.known)}"
        return InputError([Fault(file=source.shown, problem=problem, allowed=allowed)])

    def _not_understood(
        self, source: SourceFile | SourceFolder, place: str, name: str
    ) -> InputError:
        """Return the error of a record that is not of a format, and what it looks like."""
        found = find_format(source, self.known)
        problem = f"nothing in it is understood as {name}"
        if found is None:
            allowed = f"it looks like no format that is known; there are {', '.join(self.known)}"
        else:
            allowed = "" if found[0] == name else f"it looks like {found[0]}"
        return InputError([Fault(file=place, problem=problem, allowed=allowed)])

    def _read(
        self, source: SourceFile | SourceFolder, name: str, importer: Importer, *, told: bool
    ) -> Iterator[tuple[str, Imported]]:
        """Read a source by an importer; `told` says that the format is told by the shape.

        Of a source that has the shape of its format, some record has to be understood, of any
        other every record: otherwise it would be graded as an agent that did nothing.
        """
        strange = ""
        is_any = False
        for record in _placed(source, importer):
            if _has_doings(record) or (told and not _is_strange(record)):
                is_any = True
            elif told:
                strange = strange or record.place
            else:
                raise self._not_understood(source, record.place, name)
            yield name, record
        if strange and not is_any:
            raise self._not_understood(source, strange, name)


def _has_doings(record: Imported) -> bool:
    """Say whether the agent did anything in a record, or was asked to, or it says why not.

    Where something was not understood, what it was asked is no sign: roles of users are alike.
    """
    if record.failure is not None or record.skipped is not None:
        return True
    no_sign = (SystemEvent, UserMessage) if record.unread else SystemEvent
    return any(not isinstance(event, no_sign) for event in record.trajectory.events())


def _is_strange(record: Imported) -> bool:
    """Say whether a record holds nothing but what its importer did not understand."""
    kinds: Counter[str] = Counter()
    for event in record.trajectory.events():
        if not isinstance(event, SystemEvent):
            return False
        kinds[event.kind] += 1
    return bool(record.unread) and not kinds - Counter(record.unread)


def _should_be_records(source: SourceFile) -> bool:
    head = source.head()
    return bool(head.values) or source.path.suffix.lower() in _SUFFIXES


def _placed(source: SourceFile | SourceFolder, importer: Importer) -> Iterator[Imported]:
    """Return the records of a source; what is wrong with one is a fault with its place."""
    try:
        yield from importer.read(source)
    except ValueError as error:
        place, colon, problem = str(error).partition(": ")
        if not colon or not place.startswith(source.shown):
            place, problem = source.shown, str(error)
        raise InputError([Fault(file=place, problem=problem)]) from error
