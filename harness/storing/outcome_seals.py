"""Seals of outcomes: whether one is as it was written, and of which line of the log it was made."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from zlib import crc32

from harness.storing.run_folders import OUTCOMES, TRIALS

_BEGIN = b',"seal":"'
_DIGITS = 8
_TAIL = _DIGITS + len(b'"}')
"""How much of a line its own sum does not cover: the sum itself, and what ends the line."""


def sealed(outcome: bytes, trial_line: bytes) -> bytes:
    """Return an outcome's JSON with its seal added, as a line of `outcomes.jsonl`.

    The seal has 16 hex digits: the first 8 are the CRC-32 of the line of `trials.jsonl` (without
    the white space around it), the others that of all that stands before them. It tells what was
    changed or moved, not who did it: it is no signature.
    """
    text = b"%b%b%08x" % (outcome[:-1], _BEGIN, crc32(trial_line.strip()))
    return b'%b%08x"}\n' % (text, crc32(text))


def is_sealed(line: bytes) -> bool:
    """Say whether a line (without its end) is as it was written."""
    return line[-_TAIL:] == b'%08x"}' % crc32(line[:-_TAIL])


def outcomes_belong(folder: Path) -> bool:
    """Say whether there is an outcome for every line of the log, in its order and as it was made.

    Costs reading both files; false where one cannot be read.
    """
    try:
        with (folder / TRIALS).open("rb") as trials, (folder / OUTCOMES).open("rb") as outcomes:
            pairs = zip(_stripped(trials), outcomes, strict=True)
            return all(_belongs(outcome, trial) for trial, outcome in pairs)
    except (OSError, ValueError):  # one has more lines
        return False


def _stripped(lines: Iterable[bytes]) -> Iterator[bytes]:
    return filter(None, map(bytes.strip, lines))


def _belongs(outcome: bytes, trial: bytes) -> bool:
    made_of = outcome[-_TAIL - 1 - _DIGITS : -_TAIL - 1]
    is_whole = outcome.endswith(b"\n") and made_of == b"%08x" % crc32(trial)
    return is_whole and is_sealed(outcome[:-1])
