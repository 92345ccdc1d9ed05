"""Values of secrets: in which variables they stand, and in which spellings texts give them away."""

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus

import msgspec

SHOWN = "[redacted]"
"""What stands in the place of a secret."""

SHORTEST = 6
"""How long a secret is at least: a shorter value is found in half of all texts."""

_WORDS = "KEYS?|TOKEN|TOK|SECRETS?|PASS|PASSWORD|PASSWD|PASSPHRASE|PWD|CREDENTIALS?|CREDS?"
_NAMES = re.compile(
    rf"(?:^|_)(?:{_WORDS})(?:_|$)|API_?KEY|ACCESS_?KEY|TOKEN$|AUTHTOKEN|SECRET|PASSWORD|PASSWD"
    "|CREDENTIAL",
    re.IGNORECASE,
)
_MEASURES = re.compile(
    r"(?:^|_)(?:MAX|MIN|LIMIT|COUNT|NUM|SIZE|TTL|LENGTH|TIMEOUT)(?:_|$)", re.IGNORECASE
)
_FOLDERS = frozenset({"PWD", "OLDPWD"})
_SWITCHES = frozenset({"default", "disabled", "enabled", "optional", "required", "unknown"})
_LONG_LINE = 20  # a line of a key over several lines, such as a certificate's
_BASE64_WORD = re.compile(r"[A-Za-z0-9+/_-]{6,}={0,2}")


@lru_cache(maxsize=4096)
def says_secret(name: str) -> bool:
    """Say whether a variable is called like one that holds a secret; `MAX_TOKEN` is a measure."""
    return bool(_NAMES.search(name)) and not _MEASURES.search(name) and name not in _FOLDERS


def secrets_in(environment: Mapping[str, str]) -> Iterator[str]:
    """Return the values of variables that are called like secrets."""
    return (
        value
        for name, value in environment.items()
        if says_secret(name) and value.lower() not in _SWITCHES
    )


def spellings(secrets: Iterable[str]) -> list[str]:
    """Return the texts that give secrets away, the longest first.

    They are the values as they are; inside of JSON, which escapes quotes, backslashes and control
    characters, at times all that is no ASCII, twice where a JSON text stands in another; inside of
    URLs; and the long lines of a value that has several. A value that is too short to be looked
    for is none.
    """
    found: set[str] = set()
    for secret in _sought(secrets):
        once = {_escaped(secret, ascii_only) for ascii_only in (False, True)}
        found |= {secret, *once, *(_escaped(one, False) for one in once), *_in_urls(secret)}
    return sorted(found, key=len, reverse=True)


def _sought(secrets: Iterable[str]) -> set[str]:
    whole = {secret.strip() for secret in secrets}
    lines = {line for one in whole for line in one.splitlines() if len(line) >= _LONG_LINE}
    return {
        one
        for one in whole | {line for line in lines if not line.startswith("-----")}
        # What stands in its place must not hold it.
        if len(one) >= SHORTEST and one not in SHOWN
    }


def _escaped(text: str, ascii_only: bool) -> str:  # noqa: FBT001  (of json.dumps)
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]


def _in_urls(secret: str) -> Iterator[str]:
    data = secret.encode("utf-8", "surrogatepass")
    for quoted in (quote(data), quote(data, safe=""), quote_plus(data)):
        yield quoted
        yield re.sub("%[0-9A-F]{2}", lambda escape: escape.group().lower(), quoted)


def base64_cores(secret: str) -> Iterator[str]:
    """Return what each base64 text holds of which the secret is a part, wherever it begins there.

    The characters at either end, which depend on what stands beside the secret, are left out.
    """
    data = secret.encode("utf-8", "surrogatepass")
    for offset, unsure in ((0, 0), (1, 2), (2, 3)):
        sure = (offset + len(data)) * 8 // 6
        for encode in (b64encode, urlsafe_b64encode):
            yield encode(bytes(offset) + data).decode()[unsure:sure]


class Secrets:
    """Values of secrets, prepared to be sought in many texts."""

    def __init__(self, values: Iterable[str]) -> None:
        values = tuple(values)
        self._texts = tuple(spellings(values))
        cores = {core for value in _sought(values) for core in base64_cores(value)}
        self._cores = tuple(sorted(cores, key=len, reverse=True))
        every = (*self._texts, *self._cores)
        encoded = _shortest_of(map(_in_json, every))
        self._encoded = re.compile(b"|".join(map(re.escape, encoded)))
        self._plain = re.compile("|".join(map(re.escape, every)))

    def __bool__(self) -> bool:
        """Say whether there is anything to look for."""
        return bool(self._texts)

    @property
    def longest(self) -> int:
        """Return how many characters the longest spelling has."""
        return max(map(len, (*self._texts, *self._cores)), default=0)

    def stand_in(self, text: str) -> bool:
        """Say whether a text holds any of them."""
        return bool(self._texts) and self._plain.search(text) is not None

    def are_in(self, data: bytes) -> bool:
        """Say whether a JSON document, as bytes, holds any of them."""
        return bool(self._texts) and self._encoded.search(data) is not None

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where they stand in a text, in order, as half-open spans that do not overlap."""
        found = [span for one in self._texts if one in text for span in _places(text, one)]
        cores = [core for core in self._cores if core in text]
        # The characters at the ends of a word of base64 are the secret's too.
        words = _BASE64_WORD.finditer(text) if cores else ()
        found += [word.span() for word in words if any(core in word.group() for core in cores)]
        return _joined(found)

    def hide(self, text: str) -> str:
        """Return the text without them."""
        parts: list[str] = []
        done = 0
        for begin, end in self.spans(text):
            parts += (text[done:begin], SHOWN)
            done = end
        return "".join((*parts, text[done:])) if parts else text

    def hide_json(self, value: Any) -> Any:
        """Return a JSON value without them, keys included."""
        return map_texts(value, self.hide)


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Change every text of a JSON value, keys included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list | tuple):
        return [map_texts(item, change) for item in value]
    if isinstance(value, Mapping):
        return {map_texts(key, change): map_texts(item, change) for key, item in value.items()}
    return value


def _in_json(text: str) -> bytes:
    return msgspec.json.encode(text.encode("utf-8", "replace").decode())[1:-1]


def _shortest_of(texts: Iterable[bytes]) -> Iterator[bytes]:
    """Leave out each that holds another: where it is, the other is too."""
    kept: list[bytes] = []
    for text in sorted(set(texts), key=len):
        if not any(one in text for one in kept):
            kept.append(text)
            yield text


def _places(text: str, sought: str) -> Iterator[tuple[int, int]]:
    at = text.find(sought)
    while at >= 0:
        yield at, at + len(sought)
        at = text.find(sought, at + 1)


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if joined and begin < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined
