"""What a Letta server says of a request that is not of the right form: a line is made of it.

Version 0.16.8 answers with status 422 and, as `detail`, the text of a Python list of mappings;
others give the list as JSON. The text is searched, never evaluated.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_SHOWN = 3
_LONGEST = 100_000
_TEXT = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ENTRY = re.compile(rf"'loc': \(([^()]*)\), 'msg': ({_TEXT})")
_QUOTED = re.compile(r"'([^']*)'|(\d+)")
_MEMBER = re.compile(r"<\w+\.\w+: ('[^'<>]*')>")
_PARTS = frozenset({"body", "path", "query", "header"})


def refused_fields(detail: Any) -> str:
    """Return the first fields that are refused, each with what is wrong; empty for other texts."""
    found = list(_entries(detail))
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return "; ".join(_line(*entry) for entry in found[:_SHOWN]) + more


def _entries(detail: Any) -> Iterator[tuple[list[str], str]]:
    """Yield (path, message)."""
    if isinstance(detail, str):
        for entry in _ENTRY.finditer(detail[:_LONGEST]) if detail.startswith("[{") else ():
            yield [name or number for name, number in _QUOTED.findall(entry[1])], entry[2][1:-1]
        return
    for entry in detail if isinstance(detail, list) else ():
        if isinstance(entry, Mapping) and isinstance(entry.get("loc"), list) and "msg" in entry:
            yield [str(part) for part in entry["loc"]], str(entry["msg"])


def _line(path: list[str], message: str) -> str:
    place = ".".join(path[1:] if path and path[0] in _PARTS else path)
    said = _MEMBER.sub(r"\1", message.replace("\\'", "'"))
    return f"{place}: {said}" if place else said
