"""Values that an agent was given: by its user, by its tools, or not at all."""

import re
from collections.abc import Iterable
from typing import Any

from harness.types.events import Event, SystemEvent, ToolResult, UserMessage

_IDENTIFIER = re.compile(r"(?<![\w.-])(?=[\w-]*\d)[A-Za-z0-9_][\w-]{4,}(?!\w)")
_SHORTEST = 3
"""Shorter texts stand somewhere by chance, and are no sign of anything."""


def given_text(events: Iterable[Event]) -> str:
    """Return all that an agent was told in these events, as one text."""
    told: list[str] = []
    for event in events:
        if isinstance(event, ToolResult):
            told.append(event.output)
        elif isinstance(event, UserMessage | SystemEvent):
            told.append(event.text)
    return "\n".join(told)


def is_value(value: Any) -> bool:
    """Say whether an argument can be looked for in texts: a text or a number, not too short."""
    is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return is_plain and len(str(value)) >= _SHORTEST


def holds(text: str, value: Any) -> bool:
    """Say whether a text holds a value, as it is written, whatever the case of its letters."""
    return str(value).casefold() in text.casefold()


def invented_identifier(said: str, given: str) -> str | None:
    """Return the first identifier (five characters and a digit, at least) that was not given."""
    known = given.casefold()
    for found in _IDENTIFIER.finditer(said):
        if found.group().casefold() not in known:
            return found.group()
    return None
