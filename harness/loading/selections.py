"""Which samples of a dataset count, and what is reported where none does."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from harness.system.suggestions import find_close, list_names, suggest
from harness.types.errors import DatasetError, Fault
from harness.types.suites import Suite

_MOST_COMPARED = 10_000
_FEW = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which samples of a dataset count: those with one of the ids and one of the tags.

    Empty `ids` and `tags` select all. `limit` then takes the first that many.
    """

    limit: int | None = None
    ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    def takes(self, sample_id: str, tags: Iterable[str]) -> bool:
        """Say whether a sample is selected, the limit aside."""
        if self.ids and sample_id not in self.ids:
            return False
        return not self.tags or not set(self.tags).isdisjoint(tags)


def effective(chosen: Selection, suite: Suite) -> Selection:
    """Return a selection with the suite's own in place of what nobody has chosen.

    Samples that are chosen by their ids are taken whatever the suite selects.
    """
    if chosen.ids:
        return chosen
    limit = suite.max_samples if chosen.limit is None else chosen.limit
    return replace(chosen, limit=limit, tags=chosen.tags or suite.sample_tags)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """What a dataset holds of what a selection names: how many samples, which ids and tags."""

    file: str
    selected: int
    ids: Collection[str]
    tags: Collection[str]


def refuse_selection(
    selection: Selection, matches: Matches, all_ids: Callable[[], Iterator[str]]
) -> None:
    """Refuse a selection that names what is not there, or takes nothing.

    `all_ids` gives the ids of the dataset, to find one that may have been meant.

    Raises:
        DatasetError: with a fault for every unknown id and tag.
    """
    unknown = [one for one in dict.fromkeys(selection.ids) if one not in matches.ids]
    known = list(islice(all_ids(), _MOST_COMPARED)) if unknown else []
    faults = [
        Fault(file=matches.file, problem=f'no sample is called "{one}"', allowed=_meant(one, known))
        for one in unknown
    ]
    faults += [
        Fault(
            file=matches.file,
            problem=f'no sample has the tag "{one}"',
            allowed=suggest(one, matches.tags),
        )
        for one in dict.fromkeys(selection.tags)
        if one not in matches.tags
    ]
    if not faults and (
        not matches.selected or (selection.limit is not None and selection.limit < 1)
    ):
        faults = [Fault(file=matches.file, problem="the selection takes no sample")]
    if faults:
        raise DatasetError(faults)


def _meant(name: str, known: list[str]) -> str:
    if close := find_close(name, known):
        return f'did you mean "{close}"?'
    return list_names(known) if len(known) <= _FEW else f"such as: {', '.join(known[:_FEW])}"
