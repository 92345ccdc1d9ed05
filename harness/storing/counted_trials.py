"""The trials of a run that count: the last of each sample, model and epoch, if it has ended."""

from array import array
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import msgspec

from harness.storing.log_lines import Note, decoded_lines
from harness.storing.run_folders import TRIALS, UNPLANNED
from harness.storing.trial_log import read_trials
from harness.types.trials import INTERRUPTED, Trial, TrialStatus


class TrialName(msgspec.Struct, frozen=True):
    """What names a trial; decoding it alone is several times as fast."""

    sample_id: str
    model: str
    epoch: int


class _Head(TrialName, frozen=True, kw_only=True):
    status: TrialStatus


_head_decoder = msgspec.json.Decoder(_Head)
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
    return (trial for trial, counts in judged_trials(folder, note) if counts)


def judged_trials(folder: Path, note: Note = lambda _: None) -> Iterator[tuple[Trial, bool]]:
    """Read all trials of a run one by one, each with whether it counts, as `counted_trials` says.

    Raises:
        StoreError: as `read_trials` does.
    """
    left_out = uncounted(_heads(folder), unplanned_hashes(folder))
    return _judged(read_trials(folder, note), left_out)


def counting(trials: Iterable[Trial], left_out: bytearray) -> Iterator[Trial]:
    """Return the trials whose index is not left out; what came since counts if it has ended."""
    return (trial for trial, counts in _judged(trials, left_out) if counts)


def _judged(trials: Iterable[Trial], left_out: bytearray) -> Iterator[tuple[Trial, bool]]:
    for index, trial in enumerate(trials):
        is_left_out = index < len(left_out) and bool(left_out[index])
        yield trial, trial.status != INTERRUPTED and not is_left_out


def uncounted(heads: "Iterable[_Head | Trial]", unplanned: frozenset[int]) -> bytearray:
    """Return 1 at the indices (from 0) of the trials that do not count, else 0.

    `unplanned` are hashes of names. Costs nine bytes a trial.
    """
    hashes, left_out = array("q"), bytearray()
    for head in heads:
        name = name_hash(head)
        hashes.append(name)
        left_out.append(head.status == INTERRUPTED or name in unplanned)
    for index in _replaced(hashes):
        left_out[index] = 1
    return left_out


def replaced_trials(folder: Path) -> set[int]:
    """Return the indices (from 0) of trials for which a later line stands.

    Raises:
        StoreError: as `read_trials` does.
    """
    return set(_replaced(array("q", map(name_hash, _heads(folder)))))


def _replaced(hashes: "array[int]") -> Iterator[int]:
    # Sorting keeps the order of equal names: the last of them counts.
    in_order = sorted(range(len(hashes)), key=hashes.__getitem__)
    return (one for one, next_one in pairwise(in_order) if hashes[one] == hashes[next_one])


def unplanned_hashes(folder: Path) -> frozenset[int]:
    """Return the hashes of the names of trials that a resumed run does not plan any more."""
    path = folder / UNPLANNED
    if not path.is_file():
        return frozenset()
    names = decoded_lines(path, _name_decoder, lambda _: None)
    return frozenset(name_hash(name) for _, _, name in names)


def _heads(folder: Path) -> Iterator[_Head]:
    return (head for _, _, head in decoded_lines(folder / TRIALS, _head_decoder, lambda _: None))
