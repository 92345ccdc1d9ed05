"""Secrets taken out of texts that are shown or stored, such as what an endpoint says of a request.

What is a secret: the values that the caller knows; the values of environment variables that are
called like one; and what stands where keys stand: the user part and the query of a URL, after
`Bearer`, after a header or field that is called like one.
"""

import json
import os
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from harness.system.texts import one_line

SHOWN = "[redacted]"
"""What stands in the place of a secret."""

_SHORTEST = 6  # a shorter value is found in half of all texts
_MARGIN = 1_000  # longer than what any of the places below holds
_NAMES = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE
)
_WORDS = r"(?:api[-_]?key|authorization|access[-_]?token|auth[-_]?token|token|secret|password)"
_QUOTES = r"""\\?["']?"""
_QUERY = re.compile(r"""(://[^\s?#"'<>]{1,500}\?)([^\s#"'<>]+)""")
_QUERY_VALUE = re.compile(r"(?<==)[^&;]+")
_AFTER_URL = ".,;:!)]}"
_PLACES = (
    # https://user:password@host
    (re.compile(r"(?<=://)[^/\s@\"']{1,500}@"), f"{SHOWN}@"),
    # Bearer <key>, Basic <base64>; both are ordinary words before ordinary words
    (
        re.compile(r"\b((?i:bearer|basic))\s+(?=[^\s]*[A-Z0-9=._-])[^\s\"'\\,;}\]]+"),
        rf"\1 {SHOWN}",
    ),
    # api_key=<key>, "x-api-key": "<key>"
    (
        re.compile(
            rf"\b((?:x-)?{_WORDS}{_QUOTES}\s{{0,3}}[:=]\s{{0,3}}{_QUOTES})"
            r"(?!(?:bearer|basic)\s)[^\s\"'\\,;&}\]]+",
            re.IGNORECASE,
        ),
        rf"\1{SHOWN}",
    ),
    # keys by their prefix
    (re.compile(r"\bsk-[\w-]{8,}"), SHOWN),
)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Take secrets out of a text; `secrets` are values to look for beside the usual places."""
    return _redact(text, _known(secrets))


def _redact(text: str, known: Iterable[str]) -> str:
    for secret in known:
        text = text.replace(secret, SHOWN)
    text = _QUERY.sub(_hide_query, text)
    for place, shown in _PLACES:
        text = place.sub(shown, text)
    return text


def redacted_line(text: str, width: int, secrets: Collection[str] = ()) -> str:
    """Show a text on one line, without secrets, cut to `width` characters.

    What is cut off is taken away last, so that no part of a secret is left. Of a huge text only
    the beginning is looked at.
    """
    margin = max([_MARGIN, *map(len, _known(secrets))])
    looked_at = 4 * width + margin
    shown = redact(text[:looked_at], secrets)
    if len(text) > looked_at:
        # The end may be half a secret, which nothing has recognised.
        shown = f"{shown[:-margin]}…"
    return one_line(shown, width)


def redact_json(value: Any, secrets: Collection[str] = ()) -> Any:
    """Take secrets out of every text of a JSON value, keys included."""
    return _redact_json(value, _known(secrets))


def _redact_json(value: Any, known: Collection[str]) -> Any:
    if isinstance(value, str):
        return _redact(value, known)
    if isinstance(value, list):
        return [_redact_json(item, known) for item in value]
    if isinstance(value, dict):
        return {_redact(key, known): _redact_json(item, known) for key, item in value.items()}
    return value


def _known(secrets: Iterable[str]) -> list[str]:
    """Return the values to look for, in all their spellings, the longest first."""
    return spellings({*secrets, *_from(os.environ)})


def spellings(secrets: Iterable[str]) -> list[str]:
    """Return the texts that give secrets away, the longest first: as they are, and inside of JSON.

    JSON escapes quotes, backslashes and control characters, at times all that is no ASCII; a JSON
    text inside of another is escaped twice. A value that is too short to be looked for is none.
    """
    found: set[str] = set()
    for secret in secrets:
        if len(secret) >= _SHORTEST:
            once = {_escaped(secret, ascii_only) for ascii_only in (False, True)}
            found |= {secret, *once, *(_escaped(one, False) for one in once)}
    return sorted(found, key=len, reverse=True)


def _escaped(text: str, ascii_only: bool) -> str:  # noqa: FBT001  (of json.dumps)
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]


def _from(environment: Mapping[str, str]) -> Iterable[str]:
    return (value for name, value in environment.items() if _NAMES.search(name))


def _hide_query(match: re.Match[str]) -> str:
    """Hide the values of a URL's query, or all of one without names."""
    query = match[2].rstrip(_AFTER_URL)
    hidden = _QUERY_VALUE.sub(SHOWN, query) if "=" in query else SHOWN * bool(query)
    return f"{match[1]}{hidden}{match[2][len(query) :]}"
