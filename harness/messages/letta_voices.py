"""Agents of Letta that speak by a tool: turns come in, and go out with what the user was told.

Agents of the kinds before `letta_v1_agent` answer by the tool `send_message`. Its argument
`message` is what the user sees; what it returns ("None") is no output.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from harness.types.events import AssistantMessage, Event, ToolCall, ToolResult
from harness.types.trajectories import Turn

SEND_MESSAGE = "send_message"
"""The tool by which such an agent speaks."""


def with_sent_messages(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Add what an agent said behind each call of `send_message`; the calls stay."""
    return tuple(
        replace(turn, events=tuple(made for event in turn.events for made in _heard(event)))
        for turn in turns
    )


def _heard(event: Event) -> Iterator[Event]:
    if isinstance(event, ToolResult) and event.name == SEND_MESSAGE and event.output == "None":
        yield replace(event, output="")
        return
    yield event
    if isinstance(event, ToolCall) and event.name == SEND_MESSAGE:
        said = event.arguments.get("message") if isinstance(event.arguments, Mapping) else None
        if isinstance(said, str):
            yield AssistantMessage(text=said, at=event.at, step=event.step, agent=event.agent)
