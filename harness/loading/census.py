"""What one pass over a dataset finds: counts, ids, faults; some bytes an id, nothing else."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

import msgspec

from harness.loading.fault_lists import FaultList
from harness.loading.sample_rows import ReadRow
from harness.loading.selections import Selection
from harness.system.secret_values import Secrets
from harness.system.texts import cut
from harness.types.errors import Fault

_MOST_TAGS = 10_000
_MOST_SHOWN = 60

MOST_IDS = 4096
"""How many ids are looked at for secrets at once."""

GIVEN_AWAY = "the id holds the value of a secret"
ALLOWED_ID = "ids are stored as they are: one that gives nothing away"


class Located(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a file: its line, what was read of it, and its faults with their places.

    `surrogates` counts the lone surrogates that were replaced by U+FFFD.
    """

    line: int
    read: ReadRow | None = None
    faults: tuple[Fault, ...] = ()
    surrogates: int = 0
    bad_encoding: bool = False


CheckRow = Callable[[Located], tuple[tuple[Fault, ...], tuple[Fault, ...]]]
"""Return the faults and the warnings of what a row refers to."""


@dataclass(slots=True)
class Census:
    """Counts the rows of a dataset. Ids are held as 64-bit hashes.

    `suspects` are hashes that occurred again; `find_duplicates` then compares the ids. Of the ids
    that `look_at_ids` has not looked at, `ids` holds at most `MOST_IDS`; `gives_away` says that
    one holds a secret, `find_secrets` then says which.
    """

    file: str
    selection: Selection
    check_row: CheckRow
    secrets: Secrets
    count: int = 0
    selected: int = 0
    hashes: set[int] = field(default_factory=set)
    suspects: set[int] = field(default_factory=set)
    ids: list[str] = field(default_factory=list)
    gives_away: bool = False
    selected_ids: set[str] = field(default_factory=set)
    tags: set[str] = field(default_factory=set)
    faults: FaultList = field(init=False)
    warnings: FaultList = field(init=False)
    _surrogates: int = 0
    _bad_lines: int = 0
    _warned_columns: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.faults = FaultList(self.file)
        self.warnings = FaultList(self.file, "warnings")

    def take(self, row: Located) -> None:
        """Count one row."""
        self.count += 1
        self._surrogates += row.surrogates
        # A file in another encoding has a bad byte on most lines; one fault says it.
        self._bad_lines += row.bad_encoding
        if not row.bad_encoding or self._bad_lines == 1:
            self.faults.add(*row.faults)
        if row.read is None or row.read.sample is None:
            return
        faults, warnings = self.check_row(row)
        self.faults.add(*faults)
        self.warnings.add(*warnings)
        sample = row.read.sample
        self.take_id(sample.id, hash(sample.id), sample.tags)

    def take_id(self, sample_id: str, hashed: int, tags: Iterable[str]) -> None:
        """Note an id, and whether its sample is selected."""
        if hashed in self.hashes:
            self.suspects.add(hashed)
        self.hashes.add(hashed)
        self.ids.append(sample_id)
        if len(self.ids) >= MOST_IDS:
            self.look_at_ids()
        if self.selection.takes(sample_id, tags):
            self.selected += 1
        if sample_id in self.selection.ids:
            self.selected_ids.add(sample_id)
        if self.selection.tags and len(self.tags) < _MOST_TAGS:
            self.tags.update(tags)

    def look_at_ids(self) -> None:
        """Look for secrets in the ids that were noted; many at once take no time."""
        self.gives_away = self.gives_away or self.secrets.stand_in("\n".join(self.ids))
        self.ids.clear()

    def warn_column(self, line: int, name: str, close: str) -> None:
        """Warn once of a column that looks misspelt."""
        if name in self._warned_columns:
            return
        self._warned_columns.add(name)
        problem, allowed = f'the column "{name}" goes to the metadata', f'did you mean "{close}"?'
        self.warnings.add(
            Fault(file=self.file, line=line, path=name, problem=problem, allowed=allowed)
        )

    def all_faults(self) -> tuple[Fault, ...]:
        """Return the faults by their lines; the last one says how many more there are."""
        found = self.faults.listed()
        return tuple(map(self._with_bad_lines, found)) if self._bad_lines > 1 else found

    def all_warnings(self) -> tuple[Fault, ...]:
        """Return the warnings by their lines, and how many lone surrogates were replaced."""
        count = self._surrogates
        if not count:
            return self.warnings.listed()
        words = "lone surrogate was" if count == 1 else "lone surrogates were"
        problem = f"{count:,} {words} replaced by U+FFFD"
        return (*self.warnings.listed(), Fault(file=self.file, problem=problem))

    def _with_bad_lines(self, fault: Fault) -> Fault:
        if not fault.problem.startswith("the byte 0x"):
            return fault
        return replace(fault, problem=f"{fault.problem}, as on {self._bad_lines - 1:,} more lines")


def find_secrets(
    rows: Iterable[tuple[int, str, bool]], secrets: Secrets, file: str
) -> Iterator[Fault]:
    """Return a fault for every id that holds a secret: ids are stored and shown as they are."""
    for line, sample_id, _ in rows:
        if secrets.stand_in(sample_id):
            yield Fault(file=file, line=line, path="id", problem=GIVEN_AWAY, allowed=ALLOWED_ID)


def find_duplicates(
    rows: Iterable[tuple[int, str, bool]], suspects: set[int], file: str
) -> Iterator[Fault]:
    """Return a fault for every id that an earlier row has.

    `rows` are (line, id, whether it was written as a text); only ids whose hash is suspect are
    held.
    """
    first: dict[str, tuple[int, bool]] = {}
    for line, sample_id, is_text in rows:
        if hash(sample_id) not in suspects:
            continue
        if sample_id not in first:
            first[sample_id] = (line, is_text)
            continue
        other, was_text = first[sample_id]
        shown = f'the id "{cut(sample_id, _MOST_SHOWN)}"'
        same = was_text == is_text
        problem = f"duplicate id: {shown}" if same else f"{shown} is a text and a number"
        yield Fault(
            file=file,
            line=line,
            path="id",
            problem=f"{problem}; the other is on line {other}",
            allowed="ids are unique, whatever their type",
        )
