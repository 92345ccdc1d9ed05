"""Records of other tools as trials to be graded: surveyed as a whole, then given as a stream.

The first pass finds every fault before anything is stored, and counts; the second gives the
trials. Neither holds more than some bytes a record.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from harness.importers.format_finding import read_with_formats
from harness.importers.source_files import open_source
from harness.importers.source_hashes import source_sha256
from harness.loading.datasets import Dataset, open_dataset
from harness.loading.fault_lists import FaultList
from harness.loading.plugins import IMPORTERS, find_plugins
from harness.running.epoch_numbers import EpochNumbers
from harness.running.foreign_trials import foreign_trial, with_sample
from harness.running.record_mapping import FieldMap, has_field, map_fields
from harness.running.recorded_trials import Recorded, has_samples, samples_of_records
from harness.running.sample_matching import SampleIndex, id_of, prompts_of, sample_of_record
from harness.storing.manifests import ForeignOrigin
from harness.system.suggestions import suggest
from harness.types.errors import DatasetError, Fault, InputError
from harness.types.imports import Imported
from harness.types.samples import Sample
from harness.types.suites import Suite
from harness.types.trials import Trial

NO_MODEL = "default"
"""What the model of records is called that name none."""

_LISTED = 5


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


class _Placed(msgspec.Struct, frozen=True, kw_only=True):
    """A record with its place among the trials: `row` is that of its sample in the dataset.

    `problem` says why there is no sample for it; `faults` are about its fields.
    """

    format: str
    record: Imported
    row: int | None = None
    epoch: int = 0
    renumbered: bool = False
    problem: str = ""
    faults: tuple[Fault, ...] = ()

    @property
    def model(self) -> str:
        return self.record.model or NO_MODEL


def recorded_elsewhere(suite: Suite | None, records: Records) -> Recorded:
    """Survey records of another tool, and return their conversations as trials without grades.

    Without a suite, or with one that has no samples, the samples come from the records.

    Raises:
        InputError: with a fault for each record that cannot be used, or that belongs to no sample
            of the suite; because the source is damaged, or holds no conversation.
    """
    source = open_source(records.path)
    dataset = open_dataset(suite) if suite and has_samples(suite) else None
    reading = _Reading(records, SampleIndex(dataset.samples()) if dataset else None)
    sha256 = source_sha256(source)
    survey = _Survey(records)
    for placed in reading.placed():
        survey.add(placed)
    survey.finish(reading)
    origin = ForeignOrigin(
        source=source.shown,
        format=", ".join(survey.formats),
        sha256=sha256,
        records=survey.records,
    )
    return Recorded(
        trials=(),
        planned=survey.taken,
        models=tuple(survey.models),
        epochs=reading.most_repeats,
        source=origin,
        dataset=dataset or samples_of_records(survey.samples, sha256),
        pairs=lambda: _pairs(reading, dataset, survey.uses),
        warnings=survey.warnings(),
    )


@dataclass(slots=True)
class _Reading:
    """Reads the records and finds the place of each; every pass finds the same."""

    records: Records
    index: SampleIndex | None
    left_out: dict[str, None] = field(default_factory=dict)
    most_repeats: int = 1

    def placed(self) -> Iterator[_Placed]:
        source = open_source(self.records.path)
        importers = find_plugins(IMPORTERS)
        numbers = EpochNumbers()
        named = self.records.format
        for name, read in read_with_formats(source, importers, named, self._leave_out):
            record, faults = map_fields(read, self.records.fields)
            row, problem = self.index.find(record) if self.index else (None, "")
            if problem:
                yield _Placed(format=name, record=record, problem=problem, faults=faults)
                continue
            key = id_of(record) if row is None else row
            epoch, renumbered = numbers.number(key, record.model or NO_MODEL, record.epoch)
            yield _Placed(
                format=name,
                record=record,
                row=row,
                epoch=epoch,
                renumbered=renumbered,
                faults=faults,
            )
        self.most_repeats = max(numbers.most, 1)

    def _leave_out(self, file: str) -> None:
        self.left_out[file] = None


def _pairs(
    reading: _Reading, dataset: Dataset | None, uses: Counter[int]
) -> Iterator[tuple[Sample, Trial]]:
    try:
        placed = (one for one in reading.placed() if not one.problem)
        if dataset is None:
            for one in placed:
                sample = sample_of_record(one.record)
                trial = foreign_trial(one.record, sample, model=one.model, epoch=one.epoch)
                yield sample, with_sample(trial, sample)
        else:
            yield from _joined(placed, dataset, Counter(uses))
    except DatasetError:
        raise
    except InputError as error:
        # It was read well a moment ago; the run that has begun ends in order.
        raise DatasetError(error.faults) from error


def _joined(
    placed: Iterator[_Placed], dataset: Dataset, uses: Counter[int]
) -> Iterator[tuple[Sample, Trial]]:
    """Read the dataset alongside the records, holding only the samples that are still needed."""
    samples = enumerate(dataset.samples())
    held: dict[int, Sample] = {}
    for one in placed:
        row = -1 if one.row is None else one.row
        while row not in held and (found := next(samples, None)) is not None:
            number, sample = found
            if uses[number]:
                held[number] = sample
        if row not in held:
            problem = "the records have changed since they were looked at"
            raise DatasetError([Fault(file=one.record.place, problem=problem)])
        sample = held[row]
        uses[row] -= 1
        if not uses[row]:
            del held[row]
        yield sample, foreign_trial(one.record, sample, model=one.model, epoch=one.epoch)


class _Survey:
    """What there is to know of records as a whole."""

    def __init__(self, records: Records) -> None:
        self._request = records
        self._faults = FaultList(records.path.as_posix())
        self._unmatched = FaultList(records.path.as_posix(), noun="records")
        self._unread: Counter[str] = Counter()
        self._unread_in: Counter[str] = Counter()
        self._outcomes = dict.fromkeys(records.fields.outcomes, 0)
        self._fields: dict[str, None] = {}
        self._prompts: dict[int, int] = {}
        self._other_prompts = self._renumbered = self._size = 0
        self._left_out: dict[str, None] = {}
        self.formats: dict[str, None] = {}
        self.models: dict[str, None] = {}
        self.uses: Counter[int] = Counter()
        self.records = self.taken = 0

    def add(self, placed: _Placed) -> None:
        """Take one record."""
        record = placed.record
        self.records += 1
        self.formats[placed.format] = None
        self._faults.add(*placed.faults)
        self._fields.update(dict.fromkeys(record.fields))
        for path in self._outcomes:
            self._outcomes[path] += has_field(record.fields, path)
        if placed.problem:
            allowed = "--allow-unmatched leaves such records out; --map sample=FIELD names the id"
            fault = Fault(file=record.place, problem=placed.problem, allowed=allowed)
            self._unmatched.add(fault)
            return
        self.taken += 1
        self.models[placed.model] = None
        self._renumbered += placed.renumbered
        self._unread.update(record.unread)
        self._unread_in.update(dict.fromkeys(record.unread, 1))
        self._count_sample(placed)

    def _count_sample(self, placed: _Placed) -> None:
        if placed.row is not None:
            self.uses[placed.row] += 1
            return
        key, prompts = hash(id_of(placed.record)), hash(prompts_of(placed.record))
        self._other_prompts += self._prompts.setdefault(key, prompts) != prompts

    @property
    def samples(self) -> int:
        """Count the samples where there is no dataset."""
        return len(self._prompts)

    def finish(self, reading: _Reading) -> None:
        """Hear that there are no more records.

        Raises:
            InputError: with what is wrong with them.
        """
        self._left_out = reading.left_out
        self._size = reading.index.count if reading.index else 0
        for path, count in self._outcomes.items():
            if self.records and not count:
                problem = f'no record has a field "{path}"'
                allowed = suggest(path, self._fields)
                self._faults.add(Fault(file="--map outcome", problem=problem, allowed=allowed))
        faults = list(self._faults.listed())
        if self._unmatched.count and not self._request.allow_unmatched:
            faults += self._unmatched.listed()
        if not faults and not self.taken:
            found = "no record belongs to a sample of the suite" if self.records else _NOTHING
            faults.append(Fault(file=self._request.path.as_posix(), problem=found))
        if faults:
            raise InputError(faults)

    def warnings(self) -> list[str]:
        """Return what the reader of the numbers should know."""
        return [*self._about_sources(), *self._about_records()]

    def _about_sources(self) -> Iterator[str]:
        if self._left_out:
            yield f"left out, as no records: {_listed(list(self._left_out))}"
        if self._unmatched.count:
            places = [fault.file for fault in self._unmatched.kept]
            listed = _listed(places, of=self._unmatched.count)
            yield f"{self._unmatched.count} records belong to no sample and were left out: {listed}"
        if self._size > len(self.uses):
            yield f"{self._size - len(self.uses)} of {self._size} samples have no record"

    def _about_records(self) -> Iterator[str]:
        for kind, count in self._unread.items():
            yield (
                f"not understood, and kept as an event of the system: {kind}, "
                f"{count} times in {self._unread_in[kind]} of {self.taken} records"
            )
        if self._renumbered:
            yield (
                f"{self._renumbered} records repeat an epoch of their sample and model, "
                "and were given the next free one"
            )
        if self._other_prompts:
            yield (
                f"{self._other_prompts} records have the id of an earlier one, and other prompts; "
                "each is graded by its own"
            )


_NOTHING = "it holds no conversation"


def _listed(names: list[str], *, of: int | None = None) -> str:
    count = len(names) if of is None else of
    more = f" and {count - _LISTED} more" if count > _LISTED else ""
    return f"{', '.join(names[:_LISTED])}{more}"
