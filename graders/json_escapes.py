r"""A text as it reads once the escapes of JSON in it are decoded: `\u00e9`, `\/`, `\"`, `\n`.

It need not be JSON as a whole: tools return JSON after a heading, line by line, or inside of JSON.
"""

import json
from collections.abc import Iterator

import regex

from harness.system.patterns import check_size, check_time
from harness.system.texts import scrub

_DECODES = 3
_ESCAPES = regex.compile(r'(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))++')


def readings(text: str) -> Iterator[str]:
    """Return a text as it is, and as it reads with its escapes decoded once, twice, three times.

    A text without escapes has one reading.

    Raises:
        SlowPattern: the time limit has passed.
    """
    yield text
    for _ in range(_DECODES):
        if "\\" not in text:
            return
        check_size("the escapes", len(text))
        decoded = scrub(_ESCAPES.sub(_decoded, text))
        if decoded == text:
            return
        yield decoded
        text = decoded


def _decoded(escapes: regex.Match[str]) -> str:
    check_time("the escapes", what="decoding")
    return str(json.loads(f'"{escapes.group()}"'))
