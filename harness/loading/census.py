"""What one pass over a dataset finds: counts, ids, faults; some bytes an id, nothing else."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from harness.loading.sample_rows import ReadRow
from harness.loading.selections import Selection
from harness.types.errors import Fault

MOST_FAULTS = 100
_MOST_TAGS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """One row of a file: its line, what was read of it, and its faults with their places."""

    line: int
    read: ReadRow | None = None
    faults: tuple[Fault, ...] = ()
    surrogates: int = 0
    bad_encoding: bool = False


@dataclass(slots=True)
class Census:
    """Counts the rows of a dataset. Ids are held as 64-bit hashes.

    `suspects` are hashes that were met twice; `find_twins` then says whether the ids are the same.
    `check` looks at a row's own graders.
    """

    file: str
    selection: Selection
    check: Callable[[Located], tuple[Fault, ...]]
    count: int = 0
    selected: int = 0
    surrogates: int = 0
    hashes: set[int] = field(default_factory=set)
    suspects: set[int] = field(default_factory=set)
    met_ids: set[str] = field(default_factory=set)
    met_tags: set[str] = field(default_factory=set)
    faults: list[Fault] = field(default_factory=list)
    fault_count: int = 0
    bad_lines: int = 0
    warnings: dict[str, Fault] = field(default_factory=dict)

    def take(self, row: Located) -> None:
        """Count one row."""
        self.surrogates += row.surrogates
        if row.bad_encoding:
            # A file in another encoding has a bad byte on most lines; one fault says it.
            self.bad_lines += 1
        if not row.bad_encoding or self.bad_lines == 1:
            self.fault(*row.faults)
        self.count += 1
        if row.read is not None and row.read.sample is not None:
            sample = row.read.sample
            if row.read.graders is not None:
                self.fault(*self.check(row))
            self.meet(sample.id, hash(sample.id), sample.tags)

    def meet(self, sample_id: str, hashed: int, tags: Iterable[str]) -> None:
        """Note an id, and whether its sample is selected."""
        if hashed in self.hashes:
            self.suspects.add(hashed)
        self.hashes.add(hashed)
        if self.selection.takes(sample_id, tags):
            self.selected += 1
        if sample_id in self.selection.ids:
            self.met_ids.add(sample_id)
        if self.selection.tags and len(self.met_tags) < _MOST_TAGS:
            self.met_tags.update(tags)

    def fault(self, *faults: Fault) -> None:
        """Keep faults, up to a bound, and count them all."""
        self.fault_count += len(faults)
        self.faults.extend(faults[: max(0, MOST_FAULTS - len(self.faults))])

    def warn_column(self, line: int, name: str, close: str) -> None:
        """Warn once of a column that looks like a misspelt one."""
        fault = Fault(
            file=self.file,
            line=line,
            path=name,
            problem=f'the column "{name}" goes to the metadata',
            allowed=f'did you mean "{close}"?',
        )
        self.warnings.setdefault(name, fault)

    def all_faults(self) -> list[Fault]:
        """Give the faults by their lines; the last one says how many more there are."""
        if self.bad_lines > 1:
            self.faults = [self._with_bad_lines(fault) for fault in self.faults]
        shown = sorted(self.faults, key=lambda fault: (fault.line, fault.column))
        left = self.fault_count - len(shown)
        if left:
            shown.append(Fault(file=self.file, problem=f"and {left:,} more faults"))
        return shown

    def _with_bad_lines(self, fault: Fault) -> Fault:
        if not fault.problem.startswith("the byte 0x"):
            return fault
        return replace(fault, problem=f"{fault.problem}, as on {self.bad_lines - 1:,} more lines")


def find_twins(
    rows: Iterable[tuple[int, str, bool]], suspects: set[int], file: str
) -> Iterator[Fault]:
    """Give a fault for every id that stands a second time.

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
        shown = sample_id if len(sample_id) < 60 else f"{sample_id[:59]}…"  # noqa: PLR2004
        twice = f'the id "{shown}" stands twice'
        differ = f'the id "{shown}" is a text on one line and a number on another'
        yield Fault(
            file=file,
            line=line,
            path="id",
            problem=f"{twice if was_text == is_text else differ}; the other is on line {other}",
            allowed="ids are unique, whatever their type",
        )
