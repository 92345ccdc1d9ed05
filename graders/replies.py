"""The model's replies inside a turn: which events belong to one, and how many there are.

A record that numbers the replies (`step` of its events) is taken at its word. In one that does
not, a reply is reasoning, then text, then calls; whatever else happens ends it.
"""

from collections.abc import Iterator
from typing import NamedTuple

from harness.types.events import AssistantMessage, Event, Reasoning, ToolCall
from harness.types.trajectories import Turn

_ORDER: dict[type, int] = {Reasoning: 0, AssistantMessage: 1, ToolCall: 2}


class Reply(NamedTuple):
    """Names one reply of a turn: its agent, the call that the agent works for, its number."""

    agent: str | None
    parent_call_id: str | None
    number: int


def replies_of(turn: Turn) -> Iterator[tuple[int, Event, Reply]]:
    """Return the events with which a model replied: index in the turn, event, its reply."""
    number, last = -1, len(_ORDER)
    for index, event in enumerate(turn.events):
        place = _ORDER.get(type(event))
        if place is None:
            last = len(_ORDER)
            continue
        if event.step is None:
            # A second message is a second reply; a second call may be of the same.
            if place < last or place == last == _ORDER[AssistantMessage]:
                number -= 1
            last = place
        reply = Reply(
            event.agent, event.parent_call_id, number if event.step is None else event.step
        )
        yield index, event, reply


def count_replies(turn: Turn) -> int:
    """Count the replies of a turn, such as have left no event included."""
    return max(len(turn.steps), len({reply for _, _, reply in replies_of(turn)}))


def reply_calls(turn: Turn) -> Iterator[tuple[int, ToolCall, Reply]]:
    """Return the calls of a turn: index in the turn, call, the reply that made it."""
    for index, event, reply in replies_of(turn):
        if isinstance(event, ToolCall):
            yield index, event, reply
