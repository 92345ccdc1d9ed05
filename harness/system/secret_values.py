"""Values of secrets: in which variables they stand, and in which spellings texts give them away."""

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from harness.system.escaped_texts import readings

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
_MOST_NESTED = 2  # such as a JSON text in another
_LONGEST_SPELLING = 12  # times as many characters: of "&" in HTML, in HTML, in JSON
_SHORTEST_SIGN = 4
_ESCAPE = "u00"
_SPELT_OUT = re.compile(r"u00(?:3[0-9]|[46][1-9a-fA-F]|[57][0-9aA])")
"""Letters or digits as escapes, which nobody writes without need."""

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


def _sought(secrets: Iterable[str]) -> set[str]:
    whole = {secret.strip() for secret in secrets}
    lines = {line for one in whole for line in one.splitlines() if len(line) >= _LONG_LINE}
    return {
        one
        for one in whole | {line for line in lines if not line.startswith("-----")}
        # What stands in its place must not hold it.
        if len(one) >= SHORTEST and one not in SHOWN
    }


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
    """Values of secrets, prepared to be sought in many texts.

    They are found as they are; in base64; and in every spelling of `escaped_texts`, also where one
    text with escapes stands in another. A value that is too short to be looked for is none.
    """

    def __init__(self, values: Iterable[str]) -> None:
        sought = _sought(values)
        cores = {core for value in sought for core in base64_cores(value)}
        # In the query of a URL a blank may be a plus.
        self._texts = tuple({text for value in sought for text in (value, value.replace(" ", "+"))})
        self._cores = tuple(cores)
        every = (*self._texts, *self._cores)
        self.longest = _LONGEST_SPELLING * max(map(len, every), default=0)
        """How many characters the longest spelling has."""
        self._signs = tuple(_shortest_of(sign for text in every for sign in _signs_of(text)))

    def __bool__(self) -> bool:
        """Say whether there is anything to look for."""
        return bool(self._texts)

    def stand_in(self, text: str) -> bool:
        """Say whether a text holds any of them."""
        return bool(self.spans(text))

    def are_in(self, data: bytes) -> bool:
        """Say whether a JSON document, as bytes, holds any of them."""
        return self._may_stand_in(data.decode()) and any(
            map(self.stand_in, _texts_of(msgspec.json.decode(data)))
        )

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where they stand in a text, in order, as half-open spans that do not overlap."""
        if not self._may_stand_in(text):
            return []
        return _joined(self._found(text, _MOST_NESTED))

    def _may_stand_in(self, text: str) -> bool:
        """Say whether a text has any sign of them: nearly every text has none."""
        # A plain loop: this is the inner loop of storing.
        for sign in self._signs:
            if sign in text:
                return True
        return bool(self._texts) and _ESCAPE in text and _SPELT_OUT.search(text) is not None

    def _found(self, text: str, nested: int) -> Iterator[tuple[int, int]]:
        """Find them in a text and, up to so many times, in what its escapes stand for."""
        for one in self._texts:
            if one in text:
                yield from _places(text, one)
        cores = [core for core in self._cores if core in text]
        # The characters at the ends of a word of base64 are the secret's too.
        for word in _BASE64_WORD.finditer(text) if cores else ():
            if any(core in word.group() for core in cores):
                yield word.span()
        for inner, origins in readings(text) if nested else ():
            for begin, end in self._found(inner, nested - 1):
                yield origins[begin], origins[end]

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


def _texts_of(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for pair in value.items() for one in pair for text in _texts_of(one))
    elif isinstance(value, list):
        yield from (text for item in value for text in _texts_of(item))


def _signs_of(text: str) -> Iterable[str]:
    """Return texts of which one stands wherever a text does, however that is spelt.

    Letters and digits are the same in every spelling: the most of them in a row are looked for.
    """
    run = max(re.findall("[A-Za-z0-9]+", text), key=len, default="")
    return (run,) if len(run) >= _SHORTEST_SIGN else (text, "\\", "&", "%")


def _shortest_of(signs: Iterable[str]) -> Iterator[str]:
    """Leave out each that holds another: where it is, the other is too."""
    kept: list[str] = []
    for sign in sorted(set(signs), key=len):
        if not any(one in sign for one in kept):
            kept.append(sign)
            yield sign


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
