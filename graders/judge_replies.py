"""What a judge answered, read: the text of its reply comes in, a verdict goes out.

The verdict is a JSON object with `score`, a number in 0..1. It may stand in a code fence or after
prose, and the last one counts. One that the judge was shown, as part of the rubric or of the answer
it judges, is a quotation and counts only where there is no other. An object inside another is none.
Nothing is clipped, rescaled or guessed.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

from harness.system.json_values import compact_json
from harness.system.texts import one_line

MOST_CHARACTERS = 200_000
"""How long a reply may be; a verdict takes a few hundred."""

_SHOWN = 120
_RATIONALES = ("rationale", "reason", "reasoning", "explanation")
_BEGIN = re.compile(r"\{\s*(?=[\"}]|\Z)")
_MOST_BROKEN = 200  # so many places that only look like JSON are tried


class ReplyError(ValueError):
    """A reply holds no verdict; the text says why."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says: a score in 0..1, and why."""

    score: float
    rationale: str


def read_verdict(text: str, shown: str = "") -> Verdict:
    """Read the verdict in a judge's reply; `shown` is what the judge was asked.

    Raises:
        ReplyError: there is none, or none that can be taken.
    """
    if len(text) > MOST_CHARACTERS:
        raise ReplyError(f"the reply is longer than {MOST_CHARACTERS:,} characters")
    found = list(_objects(text))
    if not found:
        raise ReplyError("the reply holds no JSON object with a score")
    own = [fields for fields, written in found if written not in shown]
    verdict = own[-1] if own else found[-1][0]
    return Verdict(_score(verdict), _rationale(verdict))


class _Twice(dict[str, Any]):
    """An object in which a key stands twice; `repeated` are those keys."""

    repeated: frozenset[str] = frozenset()


def _collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = _Twice(pairs)
    keys = [key for key, _ in pairs]
    fields.repeated = frozenset(key for key in ("score",) if keys.count(key) > 1)
    return fields


# Models break lines inside strings, which JSON does not allow.
_decoder = json.JSONDecoder(object_pairs_hook=_collect, strict=False)


def _objects(text: str) -> Iterator[tuple[_Twice, str]]:
    """Yield each complete JSON object with a score, and as it was written.

    Raises:
        ReplyError: the reply ends inside an object.
    """
    broken = 0
    begin = _BEGIN.search(text)
    while begin is not None:
        at = begin.start()
        try:
            fields, end = _decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            if _ends_inside(text, error):
                raise ReplyError("the reply ends inside a JSON object") from error
            broken += 1
            if broken > _MOST_BROKEN:
                raise ReplyError("the reply holds too much that only looks like JSON") from error
            # What has been read so far is no object, so nothing in it is looked at twice.
            end = max(error.pos, at + 1)
        except (ValueError, RecursionError) as error:
            reason = one_line(str(error), _SHOWN)
            raise ReplyError(f"the reply holds JSON that cannot be read: {reason}") from error
        else:
            if isinstance(fields, _Twice) and "score" in fields:
                yield fields, text[at:end]
        begin = _BEGIN.search(text, end)


def _ends_inside(text: str, error: json.JSONDecodeError) -> bool:
    """Say whether an object was begun and not ended: the text was over too early."""
    if error.msg.startswith("Unterminated string"):
        return True
    return not text[error.pos :].strip("`~ \t\r\n")


def _score(fields: _Twice) -> float:
    score = fields["score"]
    shown = one_line(repr(score), _SHOWN)
    if "score" in fields.repeated:
        raise ReplyError("the reply gives two scores in one object")
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise ReplyError(f"the score {shown} is no number")
    if isinstance(score, float) and not isfinite(score):
        raise ReplyError(f"the score {shown} is no finite number")
    if not 0 <= score <= 1:
        raise ReplyError(f"the score {shown} is not in 0..1")
    return float(score) + 0.0


def _rationale(fields: _Twice) -> str:
    given = next((fields[name] for name in _RATIONALES if fields.get(name) is not None), "")
    if isinstance(given, str):
        return given
    try:
        return compact_json(given)
    except ValueError:
        return ""
