"""What a framework says in the user's place: turns come in, without turns of that kind.

Pydantic AI (to 2.x) answers a reply that fails its checks with a message of the user.
"""

import re
from collections.abc import Iterable

from msgspec.structs import replace

from harness.types.events import Event, SystemEvent, UserMessage
from harness.types.trajectories import Turn

RETRY_PROMPT = "retry_prompt"
"""The kind of the system event that holds such a message."""

_BEGINNING = re.compile(r"\d{1,6} validation errors?:\n```json\n|Validation feedback:\n")
_END = "\n\nFix the errors and try again."


def is_retry_prompt(text: str) -> bool:
    """Say whether a framework wrote a message of the user: the wording is always the same."""
    return text.endswith(_END) and _BEGINNING.match(text) is not None


def join_retries(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Join a turn that a framework began with the turn before it."""
    joined: list[Turn] = []
    for turn in turns:
        first = turn.events[0] if turn.events else None
        if joined and isinstance(first, UserMessage) and is_retry_prompt(first.text):
            prompt = SystemEvent(kind=RETRY_PROMPT, text=first.text, at=first.at)
            joined[-1] = _join(joined[-1], replace(turn, events=(prompt, *turn.events[1:])))
        else:
            joined.append(turn)
    return tuple(joined)


def _join(turn: Turn, more: Turn) -> Turn:
    done = len(turn.steps)
    events = (_moved(event, done) for event in more.events)
    return Turn(events=(*turn.events, *events), steps=(*turn.steps, *more.steps))


def _moved(event: Event, done: int) -> Event:
    return event if event.step is None else replace(event, step=event.step + done)
