"""The trials of a run that count: the newest of each sample, model and epoch, if it has ended."""

from array import array
from collections.abc import Iterable, Iterator, Mapping
from heapq import nsmallest
from itertools import pairwise
from pathlib import Path

import msgspec

from harness.storing.log_lines import Note, decoded_lines
from harness.storing.run_folders import TRIALS, UNPLANNED
from harness.storing.trial_log import read_trials
from harness.types.trials import INTERRUPTED, VERSION, Trial, TrialStatus


class TrialName(msgspec.Struct, frozen=True):
    """What names a trial; decoding it alone is several times as fast."""

    sample_id: str
    model: str
    epoch: int


class TrialHead(TrialName, frozen=True, kw_only=True):
    """What of a trial decides whether it counts."""

    v: int = VERSION
    status: TrialStatus
    revision: int = 0


_head_decoder = msgspec.json.Decoder(TrialHead)
_trial_decoder = msgspec.json.Decoder(Trial)
_name_decoder = msgspec.json.Decoder(TrialName)


def name_hash(name: "TrialName | Trial") -> int:
    """Return the hash of what names a trial, in 64 bits; it holds for this process alone."""
    return hash((name.sample_id, name.model, name.epoch))


def counted_trials(folder: Path, note: Note = lambda _: None) -> Iterator[Trial]:
    """Read the trials of a run that count, one by one, in the order in which they ended.

    Left out are those that were driven or graded again later, those that the end of the run cut
    off, and those that a resumed run does not plan any more.

    Raises:
        StoreError: as `read_trials` does.
    """
    left_out = uncounted(_heads(folder), unplanned_hashes(folder))
    return counting(read_trials(folder, note), left_out)


def counting(trials: Iterable[Trial], left_out: bytearray) -> Iterator[Trial]:
    """Return the trials whose index is not left out; what came since counts if it has ended."""
    for index, trial in enumerate(trials):
        is_left_out = index < len(left_out) and bool(left_out[index])
        if trial.status != INTERRUPTED and not is_left_out:
            yield trial


def uncounted(heads: "Iterable[TrialHead | Trial]", unplanned: frozenset[int]) -> bytearray:
    """Return 1 at the indices (from 0) of the trials that do not count, else 0.

    `unplanned` are hashes of names. Costs nine bytes a trial.
    """
    hashes, left_out, revisions = array("q"), bytearray(), dict[int, int]()
    for index, head in enumerate(heads):
        name = name_hash(head)
        hashes.append(name)
        left_out.append(head.status == INTERRUPTED or name in unplanned)
        if revision := revision_of(head):
            revisions[index] = revision
    for index in _replaced(hashes, revisions):
        left_out[index] = 1
    return left_out


def revision_of(head: "TrialHead | Trial") -> int:
    """Return the revision of a trial, 0 for the first."""
    return 0 if head.revision is msgspec.UNSET else head.revision


def replaced_trials(folder: Path) -> set[int]:
    """Return the indices (from 0) of trials for which another line stands: a later revision.

    Raises:
        StoreError: as `read_trials` does.
    """
    hashes, revisions = array("q"), dict[int, int]()
    for index, head in enumerate(_heads(folder)):
        hashes.append(name_hash(head))
        if head.revision:
            revisions[index] = head.revision
    return set(_replaced(hashes, revisions))


def _replaced(hashes: "array[int]", revisions: Mapping[int, int]) -> Iterator[int]:
    """Return the indices of all but the highest revision of each name, of equal ones the last."""
    # Sorting keeps the order of what is equal.
    in_order: Iterable[int] = range(len(hashes))
    if revisions:
        in_order = sorted(in_order, key=lambda index: revisions.get(index, 0))
    in_order = sorted(in_order, key=hashes.__getitem__)
    return (one for one, next_one in pairwise(in_order) if hashes[one] == hashes[next_one])


def unplanned_hashes(folder: Path) -> frozenset[int]:
    """Return the hashes of the names of trials that a resumed run does not plan any more."""
    path = folder / UNPLANNED
    if not path.is_file():
        return frozenset()
    names = decoded_lines(path, _name_decoder, lambda _: None)
    return frozenset(name_hash(name) for _, _, name in names)


def first_by_name(folder: Path, most: int) -> Iterator[Trial]:
    """Read the first trials of a run in the order of sample, model and epoch.

    Raises:
        StoreError: as `read_trials` does.
    """
    path = folder / TRIALS
    heads = decoded_lines(path, _head_decoder, lambda _: None)
    named = ((one.sample_id, one.model, one.epoch, one.revision, at) for _, at, one in heads)
    first = [at for *_, at in nsmallest(most, named)]
    with path.open("rb") as lines:
        for offset in first:
            lines.seek(offset)
            yield _trial_decoder.decode(lines.readline())


def _heads(folder: Path) -> Iterator[TrialHead]:
    return (head for _, _, head in decoded_lines(folder / TRIALS, _head_decoder, lambda _: None))
