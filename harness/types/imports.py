"""Records made elsewhere: what an importer is given, and what it gives back."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, Protocol

import msgspec

from harness.types.samples import Sample
from harness.types.trajectories import Trajectory, Usage
from harness.types.trials import Failure, TrialStatus


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation that another tool has recorded.

    `place` says where it stands, such as `results.jsonl:12`. `sample_id`, `model` and `epoch` are
    None where the record does not tell them. `status` and `failure` say how the conversation
    ended, as for a trial of ours; `skipped` is why the other tool made no trial of it at all.
    `outcomes` is what the record itself says of the result (a reward, whether it was resolved, an
    exit status) by name: numbers, truth values and texts. `fields` is the record around the
    conversation, in which the user may name further fields. `prompts` are the user's turns where
    the record holds them apart from the conversation. `unread` counts what was not understood, by
    kind; each such thing is kept as a `system` event, if it has a place in the conversation.
    `usage` is what was used in all, where the record tells more than its replies do; `snapshots`
    is the end state of fixtures by name. `sample` is the sample whole, where the record holds it.
    """

    place: str
    trajectory: Trajectory
    sample_id: str | None = None
    model: str | None = None
    epoch: int | None = None
    ground_truth: str | None = None
    prompts: tuple[str, ...] = ()
    status: TrialStatus = "completed"
    failure: Failure | None = None
    skipped: str | None = None
    seconds: float | None = None
    outcomes: dict[str, Any] = {}
    fields: dict[str, Any] = {}
    unread: dict[str, int] = {}
    usage: Usage | None = None
    snapshots: dict[str, Any] = {}
    sample: Sample | None = None


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The beginning of a source, by which its format is told.

    `name` is that of the file or folder. `values` are the first JSON values: the one of a JSON
    file, or those of the first lines. `is_lines` says that there is one a line, `files` are the
    names in a folder, and `text` is how a file begins that holds no JSON.
    """

    name: str
    values: tuple[Any, ...] = ()
    is_lines: bool = False
    files: tuple[str, ...] = ()
    text: str = ""


class Unreadable(msgspec.Struct, frozen=True, kw_only=True):
    """A line that is no JSON: its text, and why, as in `is no JSON: …`."""

    text: str
    problem: str


class Losses(Protocol):
    """Counts what could not be kept of a source as it stands; each kind becomes a warning."""

    def add(self, place: str, kind: str, count: int = 1) -> None:
        """Count something of a kind."""
        ...

    def add_json(self, place: str, losses: Any, /) -> None:
        """Count what a `JsonReader` of `harness.system.json_reading` has lost of a value."""
        ...

    def decode(self, place: str, data: bytes) -> str:
        """Return bytes as text; those that are not UTF-8 become U+FFFD, and are counted."""
        ...


IsPart = Callable[[Any], bool]
"""Says whether an item of a list is a part of a record, such as a message."""


class ForeignSource(Protocol):
    """A file or folder that holds records; what cannot be read is an `InputError` with its place.

    All JSON of it comes through `harness.system.json_values`: plain types, finite numbers,
    valid Unicode.
    """

    @property
    def path(self) -> Path:
        """Return where it lies."""
        ...

    @property
    def shown(self) -> str:
        """Return its name as the user knows it."""
        ...

    @property
    def losses(self) -> Losses:
        """Return where is counted what could not be kept of it as it stands."""
        ...

    def records(self, is_part: IsPart | None = None) -> Iterator[tuple[str, Any]]:
        """Return (place, value) for every record: each line, each item of a list, or the file.

        A list is a record itself where `is_part` says so of one of its first items. Lines, and
        the items of one list, are read as a stream.
        """
        ...

    def values(self, *, lenient: bool = False) -> Iterator[tuple[str, Any]]:
        """Return (place, value) for every JSON value of the file as it stands, lists whole.

        With `lenient`, a line that is no JSON comes as `Unreadable` and is no fault.
        """
        ...

    def text(self) -> str:
        """Return the whole file as text."""
        ...

    def inside(self, name: str) -> "ForeignSource | None":
        """Return a file of a folder, or one beside this file; None where there is none."""
        ...


class Importer(Protocol):
    """Reads one foreign format; its class is a frozen dataclass without options.

    `specification` names what the format is, and its version.
    """

    specification: ClassVar[str]

    def claims(self, head: Head, /) -> bool:
        """Say whether a source looks like this format."""
        ...

    def read(self, source: ForeignSource, /) -> Iterator[Imported]:
        """Return its conversations in their order.

        Raises `ValueError` with a place where a record is not of this format.
        """
        ...
