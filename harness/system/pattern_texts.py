r"""The text of a regular expression, read before it is compiled: how large it will be.

Nothing interrupts the `regex` package while it compiles a pattern or prepares a literal, so what
would take it long is found here. Tokens are read as the package reads them; what is no valid
pattern is left to the package to refuse.
"""

import re
from collections.abc import Iterator
from math import prod
from typing import NamedTuple

_LITERAL_CHARACTERS = 100
"""How long a literal may be: preparing one takes the cube of its length, 2 s for 2,000."""

_BREAK = r"(?!\b\B)"
"""Matches everywhere, and keeps the literals before and after it apart."""

_UNREAD_CHARACTERS = 600
"""How long a pattern may be whose groups and sets are not read one by one."""

_MOST_DIGITS = 9
_GAP = r"(?:\s|\#[^\n]*+)*+"
"""What may stand between the characters of a token in a verbose pattern: spaces and comments."""

_COUNT = rf"\{{{_GAP}(?P<least>[0-9](?:{_GAP}[0-9])*+)"
_ANY_COUNT = re.compile(_COUNT)
_GROUP_COUNT = re.compile(rf"[)}}*+?](?={_GAP}{_COUNT})|[)}}*+?](?=\{{(?P<plain>[0-9]++))")
_CALL = re.compile(rf"\(\?(?:[R0-9&]|[+-]{_GAP}[0-9]|P{_GAP}[>&])")
_UNSCOPED = re.compile(r"\(\?[|(]")


class PatternText(NamedTuple):
    """A pattern as it was read.

    `size` counts its characters, repeated ones as often as they are repeated at least. `broken`
    is the same pattern with its long literals broken; None where that cannot be done.
    `calls_itself` says that it holds a call such as `(?R)`.
    """

    size: int
    broken: str | None
    calls_itself: bool


def read_pattern(text: str) -> PatternText:
    """Read a pattern in time proportional to its length."""
    reader = _Reader(text)
    try:
        return reader.read()
    except _UnreadError:
        if len(text) > _UNREAD_CHARACTERS:
            return PatternText(len(text), None, calls_itself=False)
        return PatternText(_size_at_most(text), text, _CALL.search(text) is not None)


def _size_at_most(text: str) -> int:
    """Bound the size of a pattern as if all groups stood in one another."""
    single = sum(_times(match["least"]) for match in _ANY_COUNT.finditer(text))
    groups = (_times(match["least"] or match["plain"]) for match in _GROUP_COUNT.finditer(text))
    return (len(text) + single) * prod(max(times, 1) for times in groups)


def _times(digits: str | None) -> int:
    plain = re.sub(_GAP, "", digits or "")
    return int(plain or 0) if len(plain) <= _MOST_DIGITS else 10**_MOST_DIGITS


def _tokens(gap: str) -> "re.Pattern[str]":
    """Return the tokens of a pattern, in which gaps may stand."""
    number, flags = rf"[0-9](?:{gap}[0-9])*+", rf"(?:[a-zA-Z](?:{gap}[a-zA-Z0-9])*+)?+"
    name = r"[^>()\[\]\\|{}]*+"
    kinds = {
        "comment": r"\(\?\#(?:[^\\)]|\\.)*+\)?" + (r"|\s|\#[^\n]*+" if gap else ""),
        "call": rf"\(\?(?:[R0-9&]|[+-]{gap}[0-9]|P{gap}[>&])",
        "flags": rf"\(\?{gap}(?P<on>{flags}){gap}(?:-{gap}(?P<off>{flags}))?{gap}(?P<scope>[:)])",
        "open": rf"\((?:\?(?:(?:P{gap})?<(?![=!]){name}>|P{gap}={name}|\({name}\)|<?[=!]|[>|])?"
        r"|\*[A-Z]++)?",
        "close": r"\)",
        # The first item may be the bracket itself.
        "set": r"\[\^?(?:\[:\^?[a-zA-Z]++:\]|\\.|.)(?:\[:\^?[a-zA-Z]++:\]|\\.|[^\]\\])*+\]?",
        "escape": r"\\(?:[NpP]\{[a-zA-Z^][^{}()\[\]\\|\#]*+\}|[gLk]<[^<>()\[\]\\|{}\#]*+>"
        r"|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-9]{1,3}|.)",
        "repeat": rf"\{{{gap}(?:(?P<least>{number}){gap}(?:,{gap}(?:{number})?)?|,"
        rf"{gap}(?:{number})?){gap}\}}",
        "character": ".",
    }
    forms = (f"(?P<{kind}>{form})" for kind, form in kinds.items())
    return re.compile("|".join(forms), re.DOTALL)


_PLAIN, _VERBOSE = _tokens(""), _tokens(_GAP)


class _UnreadError(Exception):
    """The pattern is written in a way that is not read in detail."""


class _Group:
    """An open group, as far as it was read."""

    def __init__(self, *, verbose: bool) -> None:
        self.verbose = verbose
        self.size = self._last = 0

    def add(self, size: int) -> None:
        self.size += size
        self._last = size

    def repeat(self, times: int) -> None:
        self.size += self._last * max(times - 1, 0)
        self._last *= max(times, 1)


class _Reader:
    """Reads a pattern once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._groups = [_Group(verbose=False)]
        self._calls_itself = False

    def read(self) -> PatternText:
        """Read to the end.

        Raises:
            _UnreadError: its sets hold sets, or its flags leave their group.
        """
        pieces, copied, brace = [], 0, -_LITERAL_CHARACTERS
        for kind, token in self._tokens():
            start, text = token.start(), token.group()
            if text in "{}":
                brace = start if text == "{" else -_LITERAL_CHARACTERS
            elif kind in ("set", "escape") or (kind == "character" and text not in "*+?|"):
                # What stands between braces may be one token that is not known here; it is short.
                in_braces = start - brace < _LITERAL_CHARACTERS
                if start - copied >= (2 if in_braces else 1) * _LITERAL_CHARACTERS:
                    pieces.append(self._text[copied:start])
                    copied = start
            self._take(kind, token)
        while len(self._groups) > 1:
            self._close()
        broken = _BREAK.join([*pieces, self._text[copied:]])
        return PatternText(self._groups[0].size, broken, self._calls_itself)

    def _tokens(self) -> Iterator[tuple[str, "re.Match[str]"]]:
        at = 0
        while at < len(self._text):
            tokens = _VERBOSE if self._groups[-1].verbose else _PLAIN
            token = tokens.match(self._text, at)
            # A backslash at the very end is no token.
            if token is None:
                return
            at = token.end()
            yield token.lastgroup or "character", token

    def _take(self, kind: str, token: "re.Match[str]") -> None:
        if kind == "flags":
            self._take_flags(token)
        elif kind in ("open", "call"):
            self._calls_itself |= kind == "call"
            self._groups.append(_Group(verbose=self._groups[-1].verbose))
        elif kind == "close":
            self._close()
        elif kind == "repeat":
            self._groups[-1].repeat(_times(token["least"]))
        elif kind != "comment":
            self._groups[-1].add(token.end() - token.start())

    def _take_flags(self, token: "re.Match[str]") -> None:
        on, off = token["on"], token["off"] or ""
        if "V" in on or ("x" in on and _UNSCOPED.search(self._text)):
            raise _UnreadError
        verbose = ("x" in on or self._groups[-1].verbose) and "x" not in off
        if token["scope"] == ":":
            self._groups.append(_Group(verbose=verbose))
        else:
            self._groups[-1].verbose = verbose

    def _close(self) -> None:
        group = self._groups.pop()
        if not self._groups:
            self._groups.append(_Group(verbose=group.verbose))
        self._groups[-1].add(group.size + 1)
