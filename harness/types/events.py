"""Events: what happened inside a turn, in the order in which it happened.

Every event may carry `at` (when, UTC), `step` (index of the model's reply inside its turn, from
0) and, where several agents work together, `agent` and `parent_call_id`.
"""

from datetime import datetime
from typing import Any

import msgspec


class _Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """What all events share."""

    at: datetime | None = None
    step: int | None = None
    agent: str | None = None
    parent_call_id: str | None = None


class UserMessage(_Event, frozen=True, kw_only=True, tag="user_message"):
    """What the user said."""

    text: str


class AssistantMessage(_Event, frozen=True, kw_only=True, tag="assistant_message"):
    """What the agent said to the user: only what the user sees."""

    text: str


class Reasoning(_Event, frozen=True, kw_only=True, tag="reasoning"):
    """What the model thought, where the endpoint tells it."""

    text: str


class ToolCall(_Event, frozen=True, kw_only=True, tag="tool_call"):
    """A call the agent made.

    `arguments` is any JSON value; `arguments_text` is the text as it was sent, None where the
    source held an object. Text that is no JSON stays text in both.
    """

    call_id: str | None
    name: str
    arguments: Any
    arguments_text: str | None = None


class ToolResult(_Event, frozen=True, kw_only=True, tag="tool_result"):
    """What a call gave back.

    `name` is that of the latest earlier call with the same id, None where there is none.
    `output` is the text the agent saw; `ok` is False for a failed call; `structured` is the
    JSON behind the text, where the source held it apart.
    """

    call_id: str | None
    name: str | None
    output: str
    ok: bool = True
    structured: Any = None


class SystemEvent(_Event, frozen=True, kw_only=True, tag="system"):
    """What the agent's context did, such as a compaction; `kind` is the source's word."""

    kind: str
    text: str = ""
    data: Any = None


class ErrorEvent(_Event, frozen=True, kw_only=True, tag="error"):
    """Something that went wrong while the agent worked."""

    kind: str
    message: str


Event = (
    UserMessage | AssistantMessage | Reasoning | ToolCall | ToolResult | SystemEvent | ErrorEvent
)
