r"""Texts that stand inside of others with escapes, and where there each of their characters stands.

Three families of escapes are read: those of JSON and of the languages like it (`\/`, `\n`,
`\u002b`, `\x2b`), those of HTML (`&amp;`, `&#x2F;`, `&#47;`), and those of URLs (`%2F`). What is
no escape stands for itself.
"""

import html
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_Runs = Iterator[tuple[str, int]]
"""What an escape stands for: each character, with the length of its own escape."""


class Reading(NamedTuple):
    """A text that was read out of another.

    `origins` are the places in that other where each character begins, and at last its end.
    """

    text: str
    origins: list[int]


class _Family(NamedTuple):
    mark: str
    escapes: re.Pattern[str]
    read: Callable[[str], _Runs]


def readings(text: str) -> Iterator[Reading]:
    """Return what a text stands for by each family of escapes, unless it has none of them."""
    for family in _FAMILIES:
        if family.mark in text and (reading := _read(text, family)).text != text:
            yield reading


def _read(text: str, family: _Family) -> Reading:
    parts: list[str] = []
    origins: list[int] = []
    done = 0
    for escape in family.escapes.finditer(text):
        at = escape.start()
        parts.append(text[done:at])
        origins.extend(range(done, at))
        for character, length in family.read(escape.group()):
            parts.append(character)
            origins.append(at)
            at += length
        done = escape.end()
    origins.extend(range(done, len(text) + 1))
    return Reading("".join((*parts, text[done:])), origins)


def _from_json(escape: str) -> _Runs:
    kind = escape[1]
    if kind == "u":
        units = bytes.fromhex(escape.replace("\\u", ""))
        for character in units.decode("utf-16-be", "surrogatepass"):
            yield character, 12 if ord(character) > 0xFFFF else 6  # noqa: PLR2004  (two units)
    elif kind == "x":
        yield chr(int(f"0{escape[1:]}", 0)), len(escape)
    else:
        yield _SHORT.get(kind, kind), len(escape)


def _from_html(escape: str) -> _Runs:
    meant = html.unescape(escape)
    if meant == escape:  # nothing is called so
        yield from ((character, 1) for character in escape)
    for place, character in enumerate(meant if meant != escape else ""):
        yield character, 0 if place else len(escape)


def _from_url(escape: str) -> _Runs:
    for character in bytes.fromhex(escape.replace("%", "")).decode("utf-8", "surrogateescape"):
        yield character, 3 * len(character.encode("utf-8", "surrogateescape"))


_FAMILIES = (
    _Family(
        "\\",
        re.compile(r"""(?:\\u[0-9a-fA-F]{4})+|\\x[0-9a-fA-F]{2}|\\[\\/"'bfnrt]"""),
        _from_json,
    ),
    _Family(
        "&",
        re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,8});"),
        _from_html,
    ),
    _Family("%", re.compile(r"(?:%[0-9a-fA-F]{2})+"), _from_url),
)
