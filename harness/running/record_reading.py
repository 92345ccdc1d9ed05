"""Records of another tool, read one by one and given their place among the trials."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from harness.importers.format_finding import read_with_formats
from harness.importers.source_files import SourceFile, SourceFolder, open_source
from harness.loading.plugins import IMPORTERS, find_group
from harness.running.epoch_numbers import EpochNumbers
from harness.running.record_mapping import FieldMap, map_fields
from harness.running.sample_matching import Doubt, Match, SampleIndex, id_of
from harness.types.errors import Fault
from harness.types.imports import Imported

NO_MODEL = "default"
"""What the model of records is called that name none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """Records of another tool: where they lie, and how the user wants them read.

    `format` is None where it is to be told by the shape. With `allow_unmatched`, records that
    belong to no sample of the suite are left out; otherwise they are faults.
    """

    path: Path
    format: str | None = None
    fields: FieldMap = field(default_factory=FieldMap)
    allow_unmatched: bool = False


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """A record with its place among the trials: `row` is that of its sample in the dataset.

    `problem` says why there is no sample for it, `doubt` why it may be another; `faults` are about
    its fields.
    """

    format: str
    record: Imported
    row: int | None = None
    epoch: int = 0
    renumbered: bool = False
    problem: str = ""
    doubt: Doubt | None = None
    faults: tuple[Fault, ...] = ()

    @property
    def model(self) -> str:
        """Return the model, by the name of those that have none where it tells none."""
        return self.record.model or NO_MODEL


@dataclass(slots=True)
class RecordReading:
    """Reads the records and finds the place of each.

    Every pass finds the same; only epochs that records do not tell are settled after the first.

    `left_out` are the files that are no records, known after a pass, as the `numbers` of the
    epochs are. `broken` are importers of other packages that cannot be used.
    """

    records: Records
    index: SampleIndex | None
    left_out: dict[str, None] = field(default_factory=dict)
    numbers: EpochNumbers = field(default_factory=EpochNumbers)
    broken: tuple[Fault, ...] = ()
    source: SourceFile | SourceFolder | None = None

    def placed(self) -> Iterator[Placed]:
        """Return every record with its place, in their order.

        Raises:
            InputError: the source is damaged, or no format is known that looks like it.
        """
        # Listed by the first pass: what is written meanwhile is no part of it.
        self.source = self.source or open_source(self.records.path)
        found = find_group(IMPORTERS)
        self.broken = found.faults
        self.numbers.begin_again()
        named = self.records.format
        for name, read in read_with_formats(self.source, found.plugins, named, self._leave_out):
            yield self._place(name, read)

    @property
    def most_repeats(self) -> int:
        """Return how often a sample is there on one model, at most, and 1 where there is none."""
        return max(self.numbers.most, 1)

    def _place(self, name: str, read: Imported) -> Placed:
        record, faults = map_fields(read, self.records.fields)
        match = self.index.find(record) if self.index else Match()
        if match.problem:
            return Placed(format=name, record=record, problem=match.problem, faults=faults)
        key = id_of(record) if match.row is None else match.row
        epoch, renumbered = self.numbers.number(key, record.model or NO_MODEL, record.epoch)
        return Placed(
            format=name,
            record=record,
            row=match.row,
            epoch=epoch,
            renumbered=renumbered,
            doubt=match.doubt,
            faults=faults,
        )

    def _leave_out(self, file: str) -> None:
        self.left_out[file] = None
