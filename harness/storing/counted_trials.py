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
    left_out = uncounted(_heads(folder), unplanned_hashes(folder))
    trials = enumerate(read_trials(folder, note))
    return (trial for index, trial in trials if index not in left_out)


def uncounted(heads: "Iterable[_Head | Trial]", unplanned: frozenset[int]) -> set[int]:
    """Return the indices (from 0) of the trials that do not count.

    `unplanned` are hashes of names. Costs eight bytes a trial, beside those that do not count.
    """
    hashes, left_out = array("q"), set[int]()
    for index, head in enumerate(heads):
        name = name_hash(head)
        hashes.append(name)
        if head.status == INTERRUPTED or name in unplanned:
            left_out.add(index)
    return left_out | _replaced(hashes)


def replaced_trials(folder: Path) -> set[int]:
    """Return the indices (from 0) of trials for which a later line stands.

    Costs eight bytes a trial, as long as none was driven again.

    Raises:
        StoreError: as `read_trials` does.
    """
    return _replaced(array("q", map(name_hash, _heads(folder))))


def _replaced(hashes: "array[int]") -> set[int]:
    in_order = sorted(hashes)
    twice = {one for one, other in pairwise(in_order) if one == other}
    last = {name: index for index, name in enumerate(hashes) if name in twice}
    return {index for index, name in enumerate(hashes) if name in twice and last[name] != index}


def unplanned_hashes(folder: Path) -> frozenset[int]:
    """Return the hashes of the names of trials that a resumed run does not plan any more."""
    path = folder / UNPLANNED
    if not path.is_file():
        return frozenset()
    names = decoded_lines(path, _name_decoder, lambda _: None)
    return frozenset(name_hash(name) for _, _, name in names)


def _heads(folder: Path) -> Iterator[_Head]:
    return (head for _, _, head in decoded_lines(folder / TRIALS, _head_decoder, lambda _: None))
