"""Letta messages as mappings come in, letta_client's objects go out.

The classes are those of letta_client 1.7.12 to 1.12.1. letta_client is imported by the first call.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

_CLASSES: Mapping[str, str] = MappingProxyType(
    {
        "user_message": "UserMessage",
        "system_message": "SystemMessage",
        "assistant_message": "AssistantMessage",
        "reasoning_message": "ReasoningMessage",
        "hidden_reasoning_message": "HiddenReasoningMessage",
        "tool_call_message": "ToolCallMessage",
        "approval_request_message": "ApprovalRequestMessage",
        "approval_response_message": "ApprovalResponseMessage",
        "summary_message": "SummaryMessage",
        "event_message": "EventMessage",
    }
)


def build_letta_models(records: Iterable[Iterable[Mapping[str, Any]]]) -> list[list[Any]]:
    """Make the objects that graders written for letta-evals receive, one list a turn.

    The class is chosen by `message_type`; values are not checked, as the client does not check what
    a server answers.
    """
    return [[build_letta_model(record) for record in turn] for turn in records]


def build_letta_model(record: Mapping[str, Any]) -> Any:
    """Make the object of one message; one of an unknown type is an `EventMessage`."""
    return _class_of(str(record.get("message_type"))).construct(**record)


@cache
def _class_of(message_type: str) -> Any:
    # Imported by the first call: most runs have nothing to do with Letta, and it is heavy.
    from letta_client import types  # noqa: PLC0415
    from letta_client.types import agents  # noqa: PLC0415
    from letta_client.types.agents import letta_streaming_response as streaming  # noqa: PLC0415

    if message_type == "tool_return_message":
        return types.ToolReturnMessage
    if message_type == "error_message":
        return streaming.LettaErrorMessage
    return getattr(agents, _CLASSES.get(message_type, "EventMessage"))
