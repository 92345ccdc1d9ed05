"""The functions of `letta_evals.extractors.utils`: messages of a trajectory, a list for each turn.

A trajectory is a list of turns, each a list of message objects of letta-client.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from letta_client.types import ToolReturnMessage
from letta_client.types.agents import AssistantMessage, ToolCallMessage
from letta_client.types.agents.message import Message as LettaMessageUnion

__all__ = [
    "LettaMessageUnion",
    "flatten_content",
    "get_assistant_messages",
    "get_last_turn_messages",
    "get_messages_by_type",
    "get_tool_calls",
]

_Trajectory = Iterable[Iterable[Any]]


def flatten_content(content: Any) -> str:
    """Return the text of a message: as it is, or the texts of its parts joined by a space.

    Raises:
        ValueError: it is neither a text nor a list.
        AttributeError: a part has no text.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return " ".join(part.text for part in content)
    raise ValueError(f"Unexpected content type: {type(content)}")


def get_assistant_messages(trajectory: _Trajectory) -> list[Any]:
    """Return what the agent said."""
    return get_messages_by_type(trajectory, AssistantMessage)


def get_messages_by_type(trajectory: _Trajectory, message_type: type) -> list[Any]:
    """Return the messages of a type, of all turns."""
    return [message for turn in trajectory for message in turn if isinstance(message, message_type)]


def get_last_turn_messages(
    trajectory: list[list[Any]], message_type: type = AssistantMessage
) -> list[Any]:
    """Return the messages of a type of the last turn."""
    return get_messages_by_type(trajectory[-1:], message_type)


def get_tool_calls(trajectory: _Trajectory) -> list[tuple[Any, Any]]:
    """Return each message of calls with the message that returns its first one.

    They are paired by id inside their turn; a call without a return is left out.
    """
    return [pair for turn in trajectory for pair in _pairs(list(turn))]


def _pairs(turn: list[Any]) -> Iterator[tuple[Any, Any]]:
    for index, message in enumerate(turn):
        if isinstance(message, ToolCallMessage):
            later = [one for one in turn[index + 1 :] if isinstance(one, ToolReturnMessage)]
            wanted = message.tool_call.tool_call_id
            found = next((one for one in later if wanted in _answered(one)), None)
            if found is not None:
                yield message, found


def _answered(message: ToolReturnMessage) -> list[str | None]:
    """Return the ids of the calls that a message answers."""
    return [
        message.tool_call_id,
        *(getattr(r, "tool_call_id", None) for r in message.tool_returns or ()),
    ]
