"""The outcomes of a run that count, and single trials of its log, found without the rest."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar, cast

import msgspec

from harness.storing.counted_trials import uncounted, unplanned_hashes
from harness.storing.log_lines import decoded_lines
from harness.storing.log_pieces import UNDECODABLE
from harness.storing.run_folders import OUTCOMES, TRIALS
from harness.storing.trial_log import outcome_of, read_trials
from harness.types.errors import StoreError
from harness.types.trials import Outcome, Trial

_T = TypeVar("_T")


class _Head(msgspec.Struct):
    """What of an outcome decides whether it counts; decoding it alone is several times as fast."""

    sample_id: str
    model: str
    epoch: int
    status: str


_heads = msgspec.json.Decoder(_Head)
_outcomes = msgspec.json.Decoder(Outcome)
_trials = msgspec.json.Decoder(Trial)
_BLOCK = 1 << 20


class CountedOutcomes:
    """The outcomes of a run that count, each with the index (from 0) of its trial in the log.

    They are read from `outcomes.jsonl`, or made from the log where that file is behind, is of an
    older version, or is missing; nothing is written. It can be gone through several times, and
    costs some bytes a trial.

    Raises:
        StoreError: the run cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._is_level = _is_level(folder)
        heads = self._lines(_heads) if self._is_level else self._made()
        # What is asked of them all trials have in common with their outcomes.
        trials = cast("Iterable[Trial]", heads)
        self._left_out = uncounted(trials, unplanned_hashes(folder))

    def __len__(self) -> int:
        """Count them."""
        return len(self._left_out) - sum(self._left_out)

    def __iter__(self) -> Iterator[tuple[int, Outcome]]:
        """Go through them in the order in which the trials ended."""
        every = self._lines(_outcomes) if self._is_level else self._made()
        for index, outcome in zip(range(len(self._left_out)), every, strict=False):
            if not self._left_out[index]:
                yield index, outcome

    def _made(self) -> Iterator[Outcome]:
        return map(outcome_of, read_trials(self._folder))

    def _lines(self, decoder: msgspec.json.Decoder[_T]) -> Iterator[_T]:
        lines = decoded_lines(self._folder / OUTCOMES, decoder, lambda _: None)
        return (one for _, _, one in lines)


def _is_level(folder: Path) -> bool:
    """Say whether there is an outcome for every line of the log, with the keys of the trial."""
    path = folder / OUTCOMES
    try:
        with path.open("rb") as lines:
            first = lines.readline()
            count = 1 + sum(block.count(b"\n") for block in iter(lambda: lines.read(_BLOCK), b""))
        outcome = _outcomes.decode(first)
        is_new = bool(outcome.sample_key) and outcome.tool_calls is not None
        return is_new and count == _lines(folder / TRIALS)
    except (OSError, *UNDECODABLE):
        return False


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(_BLOCK), b""))


class FoundTrials:
    """Trials of a log by their index (from 0), read one by one when they are asked for.

    Raises:
        StoreError: the log cannot be read.
    """

    def __init__(self, folder: Path, wanted: Iterable[int]) -> None:
        self._path = folder / TRIALS
        self._offsets: Mapping[int, int] = _offsets(self._path, frozenset(wanted))

    def read(self, index: int) -> Trial:
        """Read one trial.

        Raises:
            StoreError: it cannot be read.
        """
        try:
            with self._path.open("rb") as file:
                file.seek(self._offsets[index])
                return _trials.decode(file.readline())
        except (OSError, KeyError, *UNDECODABLE) as error:
            raise StoreError("a trial cannot be read", place=str(self._path)) from error


def _offsets(path: Path, wanted: frozenset[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    index = end = 0
    try:
        with path.open("rb") as lines:
            for line in lines:
                offset, end = end, end + len(line)
                if line.isspace():
                    continue
                if index in wanted:
                    found[index] = offset
                index += 1
    except OSError as error:
        raise StoreError(f"cannot read the run: {error.strerror}", place=str(path)) from error
    return found
