"""What a program prints on a line, as JSON values: several on one line are read one by one."""

import json
from collections.abc import Iterator
from typing import Any

from harness.system.json_values import clean_json
from harness.system.texts import scrub


def records_on(line: str) -> Iterator[dict[str, Any] | str]:
    """Yield the JSON objects on a line, and as text what begins none, up to the line's end."""
    decoder = json.JSONDecoder()
    rest = line.strip()
    position = 0
    while position < len(rest):
        try:
            value, end = decoder.raw_decode(rest, position)
            record = clean_json(value)
        except (ValueError, RecursionError):
            yield scrub(rest[position:])
            return
        if not isinstance(record, dict):
            yield scrub(rest[position:])
            return
        yield record
        position = end
        while position < len(rest) and rest[position].isspace():
            position += 1
