"""Secrets taken out of texts that are shown or stored, such as what an endpoint says of a request.

What is a secret: the values that the caller knows; the values of environment variables that are
called like one; and what stands where keys stand: the user part and the query of a URL, after
`Bearer`, after a header or field that is called like one.
"""

import os
import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Any

from harness.system.secret_values import SHOWN, Secrets, map_texts, secrets_in
from harness.system.texts import one_line

_MARGIN = 1_000  # longer than what any of the places below holds
_WORDS = r"(?:api[-_]?key|authorization|access[-_]?token|auth[-_]?token|token|secret|password)"
_QUOTES = r"""\\?["']?"""
_SLASHES = r"(:(?:\\{0,4}/){2})"  # of a URL; PHP writes "/" with a backslash in JSON
_ESCAPED = (
    r"\\{1,4}(?:/|u(?!00(?:[01]|2[27]))[0-9a-fA-F]{4})|&#(?!3[49];|x2[27];)x?[0-9a-fA-F]{1,6};"
)
"""A character of a key in JSON or HTML; not a quote or a blank, which end it."""
_QUERY = re.compile(rf"""({_SLASHES}[^\s?#"'<>]{{1,500}}\?)([^\s#"'<>]+)""")
_QUERY_VALUE = re.compile(r"(?<==)[^&;]+")
_AFTER_URL = ".,;:!)]}"
_PLACES = (
    # https://user:password@host
    (re.compile(rf"{_SLASHES}[^/\s@\"']{{1,500}}@"), rf"\1{SHOWN}@"),
    # Bearer <key>, Basic <base64>; both are ordinary words before ordinary words
    (
        re.compile(
            r"\b((?i:bearer|basic))\s+(?=[^\s]*[A-Z0-9=._-])"
            rf"(?:{_ESCAPED}|&(?:amp|lt|gt);|[^\s\"'\\,;}}\]])+"
        ),
        rf"\1 {SHOWN}",
    ),
    # api_key=<key>, "x-api-key": "<key>"
    (
        re.compile(
            rf"\b((?:x-)?{_WORDS}{_QUOTES}\s{{0,3}}[:=]\s{{0,3}}{_QUOTES})"
            rf"(?!(?:bearer|basic)\s)(?:{_ESCAPED}|[^\s\"'\\,;&}}\]])+",
            re.IGNORECASE,
        ),
        rf"\1{SHOWN}",
    ),
    # keys by their prefix
    (re.compile(r"\bsk-[\w-]{8,}"), SHOWN),
)


def known_secrets(secrets: Iterable[str] = ()) -> Secrets:
    """Return what is looked for: these values, and those of variables called like secrets."""
    return _prepared(frozenset((*secrets, *secrets_in(os.environ))))


@lru_cache(maxsize=64)
def _prepared(values: frozenset[str]) -> Secrets:
    return Secrets(values)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Take secrets out of a text; `secrets` are values to look for beside the usual places."""
    return _redact(text, known_secrets(secrets))


def _redact(text: str, known: Secrets) -> str:
    text = _QUERY.sub(_hide_query, known.hide(text))
    for place, shown in _PLACES:
        text = place.sub(shown, text)
    return text


def redacted_line(text: str, width: int, secrets: Collection[str] = ()) -> str:
    """Show a text on one line, without secrets, cut to `width` characters.

    What is cut off is taken away last, so that no part of a secret is left. Of a huge text only
    the beginning is looked at.
    """
    known = known_secrets(secrets)
    margin = max(_MARGIN, known.longest)
    looked_at = 4 * width + margin
    shown = _redact(text[:looked_at], known)
    if len(text) > looked_at:
        # The end may be half a secret, which nothing has recognised.
        shown = f"{shown[:-margin]}…"
    return one_line(shown, width)


def redact_json(value: Any, secrets: Collection[str] = ()) -> Any:
    """Take secrets out of every text of a JSON value, keys included."""
    known = known_secrets(secrets)
    return map_texts(value, lambda text: _redact(text, known))


def _hide_query(match: re.Match[str]) -> str:
    """Hide the values of a URL's query, or all of one without names."""
    query = match[3].rstrip(_AFTER_URL)
    hidden = _QUERY_VALUE.sub(SHOWN, query) if "=" in query else SHOWN * bool(query)
    return f"{match[1]}{hidden}{match[3][len(query) :]}"
