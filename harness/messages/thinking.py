"""What a model thinks aloud inside its text: `<think>` blocks come in, thoughts go out apart.

Open models write them, and endpoints that do not take them out pass them on as content; tools that
replay thoughts write them with attributes (`<think redacted="true">`). Only what stands outside is
what the user sees.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from harness.messages.turn_building import TurnBuilder
from harness.types.events import AssistantMessage, Event, Reasoning
from harness.types.trajectories import Turn

_OPENING = re.compile(r"<think(?:\s[^<>]*)?>")
_CLOSE = "</think>"


def split_thinking(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the visible text and the thoughts, each without the blanks around it.

    A block that is never closed is one only where the text begins with it; else it is a word. A
    text without any block is kept as it is.
    """
    visible, thoughts, at = list[str](), list[str](), 0
    while found := _OPENING.search(text, at):
        begin, end = found.start(), text.find(_CLOSE, found.end())
        if end < 0 and text[:begin].strip():
            break
        visible.append(text[at:begin])
        thoughts.append(text[found.end() : end if end >= 0 else len(text)].strip())
        at = end + len(_CLOSE) if end >= 0 else len(text)
    if not at:
        return text, ()
    shown = (part.strip() for part in [*visible, text[at:]])
    return "\n\n".join(filter(None, shown)), tuple(filter(None, thoughts))


def add_said(builder: TurnBuilder, text: str, **fields: Any) -> None:
    """Add what the agent said, its thoughts apart; nothing but thoughts is nothing said."""
    visible, thoughts = split_thinking(text)
    for thought in thoughts:
        builder.reasoning(thought, **fields)
    if visible or not _OPENING.match(text.lstrip()):
        builder.assistant(visible, **fields)


def part_thinking(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Take the thoughts out of every text of the agent."""
    return tuple(
        replace(turn, events=tuple(part for event in turn.events for part in _parts(event)))
        if any(_thinks(event) for event in turn.events)
        else turn
        for turn in turns
    )


def _thinks(event: Event) -> bool:
    return isinstance(event, AssistantMessage) and bool(_OPENING.search(event.text))


def _parts(event: Event) -> Iterator[Event]:
    if not isinstance(event, AssistantMessage) or not _OPENING.search(event.text):
        yield event
        return
    visible, thoughts = split_thinking(event.text)
    shared = {name: getattr(event, name) for name in ("at", "step", "agent", "parent_call_id")}
    yield from (Reasoning(text=thought, **shared) for thought in thoughts)
    if visible:
        yield replace(event, text=visible)
