"""The outcomes of a run that count, and single trials of its log, found without the rest."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from harness.storing.log_pieces import UNDECODABLE
from harness.storing.named_lines import NamedLines
from harness.storing.outcome_seals import outcomes_belong
from harness.storing.run_folders import OUTCOMES, TRIALS
from harness.storing.trial_log import outcome_of
from harness.types.errors import StoreError
from harness.types.trials import Outcome, Trial

_outcomes = msgspec.json.Decoder(Outcome)
_trials = msgspec.json.Decoder(Trial)


class CountedOutcomes:
    """The outcomes of a run that count, each with the index (from 0) of its trial in the log.

    They are read from `outcomes.jsonl`, or made from the log where that file is not what was made
    of it: it is behind, of an older version, missing, or was changed, or the log was. Nothing is
    written. It can be gone through several times, and costs some bytes a trial.

    Raises:
        StoreError: the run cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self._is_level = outcomes_belong(folder)
        self._lines = NamedLines(folder / (OUTCOMES if self._is_level else TRIALS))

    def __len__(self) -> int:
        """Count them."""
        return len(self._lines)

    def __iter__(self) -> Iterator[tuple[int, Outcome]]:
        """Go through them in the order of sample, model and epoch."""
        if self._is_level:
            return self._lines.counted(_outcomes)
        return ((index, outcome_of(trial)) for index, trial in self._lines.counted(_trials))


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
