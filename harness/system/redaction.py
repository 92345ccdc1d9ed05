"""Secrets taken out of texts that are shown or stored, such as what an endpoint says of a request.

What is a secret: the values that the caller knows; the values of environment variables that are
called like one; and what stands where keys stand: the user part and the query of a URL, after
`Bearer`, after a header or field that is called like one.
"""

import os
import re
from collections.abc import Iterable, Mapping

SHOWN = "[redacted]"
"""What stands in the place of a secret."""

_SHORTEST = 6  # a shorter value is found in half of all texts
_NAMES = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE
)
_WORDS = r"(?:api[-_]?key|authorization|access[-_]?token|auth[-_]?token|token|secret|password)"
_QUOTES = r"""\\?["']?"""
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
    for secret in sorted({*secrets, *_from(os.environ)}, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, SHOWN)
    for place, shown in _PLACES:
        text = place.sub(shown, text)
    return text


def _from(environment: Mapping[str, str]) -> Iterable[str]:
    return (value for name, value in environment.items() if _NAMES.search(name))
