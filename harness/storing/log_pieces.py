"""The trials that can be read in a damaged line of a log, and what lies between them."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import msgspec

from harness.types.trials import Trial

UNDECODABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What decoders raise for a line that is no trial."""

_trials = msgspec.json.Decoder(Trial)
_BEGINNING = re.compile(rb'\{"(?:v|sample_id)":')
_MOST_TRIED = 1_000
"""How many places of a damaged line are tried as the beginning of a trial."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a line: a trial as it was written, or what is none."""

    text: bytes
    trial: Trial | None


def pieces_of(line: bytes) -> Iterator[Piece]:
    """Cut a line into the trials that can be read in it, and what lies between them."""
    start, text = 0, line.strip()
    for begin in _beginnings(text):
        end = _end_of_trial(text, begin) if begin >= start else None
        if end is None:
            continue
        if before := text[start:begin].strip():
            yield Piece(before, None)
        yield Piece(text[begin:end], _trials.decode(text[begin:end]))
        start = end
    if rest := text[start:].strip():
        yield Piece(rest, None)


def _beginnings(text: bytes) -> list[int]:
    return [found.start() for found in islice(_BEGINNING.finditer(text), _MOST_TRIED)]


def _end_of_trial(text: bytes, begin: int) -> int | None:
    rest = text[begin:].decode(errors="surrogateescape")
    try:
        _, length = json.JSONDecoder().raw_decode(rest)
        end = begin + len(rest[:length].encode(errors="surrogateescape"))
        _trials.decode(text[begin:end])
    except (ValueError, *UNDECODABLE):
        return None
    return end
