"""What there is to know of records of another tool as a whole, before the first is graded."""

from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from harness.loading.census import ALLOWED_ID, GIVEN_AWAY
from harness.loading.fault_lists import FaultList
from harness.running.record_mapping import has_field
from harness.running.record_reading import Placed, RecordReading, Records
from harness.running.sample_matching import Doubt, id_of, prompts_of
from harness.system.redaction import known_secrets
from harness.system.suggestions import suggest
from harness.types.errors import Fault, InputError
from harness.types.events import ToolResult
from harness.types.trajectories import Trajectory

_LISTED = 5
_ALIKE = 2
"""How many of the faults that say the same of different records are shown one by one."""


class Survey:
    """Counts records, their samples and their faults; some bytes a record.

    `formats` and `models` are names in their order, `uses` counts the records of each row of the
    dataset, and `taken` those that are graded.
    """

    def __init__(self, records: Records) -> None:
        self._request = records
        self._secrets = known_secrets()
        self._faults = FaultList(records.path.as_posix())
        self._alike: Counter[tuple[str, str]] = Counter()
        self._unmatched = FaultList(records.path.as_posix(), noun="records")
        self._unread: Counter[str] = Counter()
        self._unread_in: Counter[str] = Counter()
        self._outcomes = dict.fromkeys(records.fields.outcomes, 0)
        self._fields: dict[str, None] = {}
        self._prompts: dict[int, int] = {}
        self._orphans = self._orphans_in = 0
        self._doubts: Counter[Doubt] = Counter()
        self._doubted: dict[Doubt, str] = {}
        self._other_prompts = self._renumbered = self._size = 0
        self._left_out: dict[str, None] = {}
        self._broken: tuple[Fault, ...] = ()
        self._losses: tuple[str, ...] = ()
        self.formats: dict[str, None] = {}
        self.models: dict[str, None] = {}
        self.uses: Counter[int] = Counter()
        self.records = self.taken = 0

    def add(self, placed: Placed) -> None:
        """Take one record."""
        record = placed.record
        self.records += 1
        self.formats[placed.format] = None
        self._add_faults(placed.faults)
        self._fields.update(dict.fromkeys(record.fields))
        for path in self._outcomes:
            self._outcomes[path] += has_field(record.fields, path)
        if placed.problem:
            allowed = "--allow-unmatched leaves such records out; --map sample=FIELD names the id"
            fault = Fault(file=record.place, problem=placed.problem, allowed=allowed)
            self._unmatched.add(fault)
            return
        self._take(placed)

    def _take(self, placed: Placed) -> None:
        """Count a record that is graded."""
        record = placed.record
        self.taken += 1
        self.models[placed.model] = None
        self._renumbered += placed.renumbered
        self._unread.update(record.unread)
        self._unread_in.update(dict.fromkeys(record.unread, 1))
        orphans = _orphans(record.trajectory)
        self._orphans += orphans
        self._orphans_in += orphans > 0
        if placed.doubt:
            self._doubts[placed.doubt] += 1
            self._doubted.setdefault(placed.doubt, record.place)
        self._count_sample(placed)

    def _add_faults(self, faults: tuple[Fault, ...]) -> None:
        for fault in faults:
            alike = (fault.path, fault.problem)
            self._alike[alike] += 1
            if self._alike[alike] <= _ALIKE:
                self._faults.add(fault)

    def _count_sample(self, placed: Placed) -> None:
        if placed.row is not None:
            self.uses[placed.row] += 1
            return
        sample_id = id_of(placed.record)
        if self._secrets.stand_in(sample_id):
            fault = Fault(file=placed.record.place, problem=GIVEN_AWAY, allowed=ALLOWED_ID)
            self._add_faults((fault,))
        key, prompts = hash(sample_id), hash(prompts_of(placed.record))
        self._other_prompts += self._prompts.setdefault(key, prompts) != prompts

    @property
    def samples(self) -> int:
        """Count the samples where there is no dataset."""
        return len(self._prompts)

    def finish(self, reading: RecordReading) -> None:
        """Hear that there are no more records.

        Raises:
            InputError: with what is wrong with them.
        """
        self._left_out, self._broken = reading.left_out, reading.broken
        # Told now: a second pass finds the same again.
        self._losses = tuple(reading.source.losses.warnings()) if reading.source else ()
        self._size = reading.index.count if reading.index else 0
        self._finish_faults()
        faults = list(self._faults.listed())
        if self._unmatched.count and not self._request.allow_unmatched:
            faults += self._unmatched.listed()
        if not faults and not self.taken:
            found = "no record belongs to a sample of the suite" if self.records else _NOTHING
            faults.append(Fault(file=self._request.path.as_posix(), problem=found))
        if faults:
            raise InputError(faults)

    def _finish_faults(self) -> None:
        """Add the faults that only all records together show."""
        for path, count in self._outcomes.items():
            if self.records and not count:
                problem = f'no record has a field "{path}"'
                allowed = suggest(path, self._fields)
                self._faults.add(Fault(file="--map outcome", problem=problem, allowed=allowed))
        for (path, problem), count in self._alike.items():
            if count > _ALIKE:
                more = f"{problem}, in {count - _ALIKE} more records"
                self._faults.add(Fault(file=self._request.path.as_posix(), path=path, problem=more))

    def warnings(self) -> list[str]:
        """Return what the reader of the numbers should know."""
        return [*self._about_sources(), *self._about_records()]

    def _about_sources(self) -> Iterator[str]:
        yield from map(str, self._broken)
        if self._left_out:
            yield f"left out, as no records: {_listed(list(self._left_out))}"
        if self._unmatched.count:
            places = [fault.file for fault in self._unmatched.kept]
            listed = _listed(places, of=self._unmatched.count)
            records = _records(self._unmatched.count, "belongs", "belong")
            yield f"{records} to no sample, left out: {listed}"
        if self._size > len(self.uses):
            yield f"{self._size - len(self.uses)} of {self._size} samples have no record"

    def _about_records(self) -> Iterator[str]:
        yield from self._losses
        for kind, count in self._unread.items():
            yield (
                f"not understood, and kept as an event of the system: {kind}, "
                f"{count}x in {self._unread_in[kind]} of {self.taken} records"
            )
        if self._orphans:
            yield (
                "results of tools without a call before them, kept without a name: "
                f"{self._orphans} in {self._orphans_in} of {self.taken} records"
            )
        for doubt, count in self._doubts.items():
            yield f"{_records(count, *_DOUBTS[doubt])}; the first is {self._doubted[doubt]}"
        if self._renumbered:
            records = _records(self._renumbered, "repeats", "repeat")
            yield f"{records} an epoch of the same sample and model; the next free one was taken"
        if self._other_prompts:
            records = _records(self._other_prompts, "has", "have")
            yield f"{records} the id of an earlier one, and other prompts; each keeps its own"


_DOUBTS: Mapping[Doubt, tuple[str, str]] = MappingProxyType(
    {
        "other_prompts": (
            "has the id of a sample, and other prompts than it",
            "have the id of a sample, and other prompts than it",
        ),
        "other_id": (
            "has the id of one sample and the prompts of another, and counts as of that",
            "have the id of one sample and the prompts of another, and count as of that",
        ),
        "goes_on": (
            "goes on after the prompts of its sample",
            "go on after the prompts of their samples",
        ),
    }
)
"""What is said of one record, and of several, that may be of another sample."""

_NOTHING = "it holds no conversation"


def _orphans(trajectory: Trajectory) -> int:
    events = trajectory.events()
    return sum(isinstance(event, ToolResult) and event.name is None for event in events)


def _records(count: int, one: str, more: str) -> str:
    return f"{count} record {one}" if count == 1 else f"{count} records {more}"


def _listed(names: list[str], *, of: int | None = None) -> str:
    count = len(names) if of is None else of
    more = f" and {count - _LISTED} more" if count > _LISTED else ""
    return f"{', '.join(names[:_LISTED])}{more}"
