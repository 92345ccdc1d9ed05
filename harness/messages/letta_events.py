"""A system event comes in, the Letta message that it reads from goes out."""

from collections.abc import Callable
from typing import Any

from harness.messages.letta_messages import (
    APPROVAL_FIELDS,
    APPROVAL_REQUEST,
    APPROVAL_RESPONSE,
    HIDDEN_REASONING,
    SUMMARY,
    SYSTEM,
)
from harness.messages.letta_notices import write_notice
from harness.types.events import SystemEvent

_STATES = ("redacted", "omitted")

_Fields = dict[str, Any]


def system_fields(event: SystemEvent) -> tuple[str, _Fields]:
    """Return the type of the message and its own fields.

    An event that comes from no message of Letta is an `event_message`; where it has a text,
    `event_data` holds `text` and `data`.
    """
    for message_type, write in _WRITERS:
        fields = write(event)
        if fields is not None:
            return message_type, fields
    data = event.data
    if event.text or not isinstance(data, dict) or data.keys() == {"text", "data"}:
        data = {"text": event.text, "data": data}
    return "event_message", {"event_type": event.kind, "event_data": data}


def _notice(event: SystemEvent) -> _Fields | None:
    text = write_notice(event)
    return None if text is None else {"content": text}


def _system(event: SystemEvent) -> _Fields | None:
    return {"content": event.text} if event.kind == SYSTEM and event.data is None else None


def _summary(event: SystemEvent) -> _Fields | None:
    if event.kind != SUMMARY or not (event.data is None or isinstance(event.data, dict)):
        return None
    return {"summary": event.text, "compaction_stats": event.data}


def _hidden_reasoning(event: SystemEvent) -> _Fields | None:
    if event.kind != HIDDEN_REASONING or event.text not in _STATES:
        return None
    data = {"hidden_reasoning": None} if event.data is None else event.data
    if not isinstance(data, dict) or data.keys() != {"hidden_reasoning"}:
        return None
    hidden = data["hidden_reasoning"]
    if isinstance(hidden, str) is (event.data is None):
        return None
    return {"state": event.text, "hidden_reasoning": hidden}


def _approval_response(event: SystemEvent) -> _Fields | None:
    data = event.data
    if event.kind != APPROVAL_RESPONSE or not isinstance(data, dict):
        return None
    is_whole = data.keys() <= set(APPROVAL_FIELDS) and None not in data.values()
    if not is_whole or data.get("reason", "") != event.text:
        return None
    return {key: data.get(key) for key in APPROVAL_FIELDS}


def _bare_approval_request(event: SystemEvent) -> _Fields | None:
    is_bare = event.kind == APPROVAL_REQUEST and event.data == {"tool_call_ids": []}
    return {"tool_call": None, "tool_calls": []} if is_bare and not event.text else None


_Write = Callable[[SystemEvent], _Fields | None]
_WRITERS: tuple[tuple[str, _Write], ...] = (
    ("user_message", _notice),
    ("system_message", _system),
    ("summary_message", _summary),
    ("hidden_reasoning_message", _hidden_reasoning),
    ("approval_response_message", _approval_response),
    ("approval_request_message", _bare_approval_request),
)
