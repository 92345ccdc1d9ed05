"""One whole Letta message comes in as a mapping, its events go out.

The shapes are those of the Letta server 0.16.8 (`message_type` tells them apart), as they stand in
a blocking reply, in a list of messages and in a stream by steps; those of Letta Code are the same
with a list of parts as content.

- What the user reads is an assistant message, what the model thought is reasoning. Reasoning that
  the provider hides is a system event `hidden_reasoning`: there is nothing in it to read.
- The calls of an approval request are calls, followed by a system event `approval_request` with
  their ids; the answer is a system event `approval_response`.
- A user message that holds a notice of the server as JSON (`{"type": "system_alert", ...}`, left
  behind by a compaction; `heartbeat` and `login` in older agents) is a system event of that type:
  it is neither what the user said nor an answer.
- `summary_message` is a system event `summary`; `event_message` one of its `event_type`
  (`compaction`, `retry`); a message of a type unknown here one of that type, with all its fields.
- `ping`, `stop_reason` and `usage_statistics` have no events.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from harness.messages.assistant_messages import part_event
from harness.messages.contents import read_content, shape_error
from harness.messages.letta_notices import read_notice
from harness.messages.letta_tools import read_letta_calls, read_letta_returns
from harness.system.json_values import clean_json, compact_json
from harness.system.texts import scrub
from harness.types.events import (
    AssistantMessage,
    ErrorEvent,
    Event,
    Reasoning,
    SystemEvent,
    ToolCall,
    UserMessage,
)

APPROVAL_REQUEST = "approval_request"
APPROVAL_RESPONSE = "approval_response"
HIDDEN_REASONING = "hidden_reasoning"
SUMMARY = "summary"
SYSTEM = "system"

REPLY_TYPES = frozenset(
    {
        "assistant_message",
        "reasoning_message",
        "hidden_reasoning_message",
        "tool_call_message",
        "approval_request_message",
    }
)
"""The types of messages that are a model's reply, or a part of one."""

APPROVAL_FIELDS = ("approvals", "approve", "approval_request_id", "reason")
"""What an approval response says, beside its envelope."""

_Shared = dict[str, Any]
_Reader = Callable[[Mapping[str, Any], _Shared], Iterator[Event]]


def read_letta_message(message: Any, *, step: int | None = None) -> tuple[Event, ...]:
    """Read the events of one whole message; `step` is the index of its reply inside its turn.

    Results are named by nobody here: see `harness.messages.letta_turns`.

    Raises:
        ValueError: it is not of that shape; the text names the type and the place.
    """
    kind = letta_type(message)
    shared: _Shared = {"step": step, "at": read_date(message.get("date"))}
    name = message.get("name")
    if kind in REPLY_TYPES and isinstance(name, str) and name:
        shared["agent"] = scrub(name)
    try:
        return tuple(_READERS.get(kind, _read_unknown)(message, shared))
    except ValueError as error:
        raise ValueError(f"{kind}: {error}") from error


def letta_type(message: Any) -> str:
    """Return the type of a message.

    Raises:
        ValueError: it is no object, or has no type.
    """
    if not isinstance(message, Mapping):
        raise shape_error("a message must be an object", message)
    kind = message.get("message_type")
    if not isinstance(kind, str) or not kind:
        raise shape_error("message_type must be a non-empty text", kind)
    return scrub(kind)


def read_date(value: Any) -> datetime | None:
    """Return when a message was made, in UTC; None for what is no time."""
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else value
        if not isinstance(at, datetime):
            return None
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _read_user(message: Mapping[str, Any], shared: _Shared) -> Iterator[Event]:
    content = read_content(_content(message))
    text = "\n".join(content.texts)
    notice = None if content.others else read_notice(text, shared)
    if notice is not None:
        yield notice
        return
    shared = {**shared, "step": None}
    yield UserMessage(text=text, **shared)
    yield from (part_event(block, shared) for block in content.others)


def _read_system(message: Mapping[str, Any], shared: _Shared) -> Iterator[Event]:
    content = read_content(_content(message))
    yield SystemEvent(kind=SYSTEM, text="\n".join(content.texts), **shared)
    yield from (part_event(block, shared) for block in content.others)


def _read_assistant(message: Mapping[str, Any], shared: _Shared) -> Iterator[Event]:
    content = read_content(_content(message))
    yield AssistantMessage(text="".join(content.texts), **shared)
    yield from (part_event(block, shared) for block in content.others)


def _content(message: Mapping[str, Any]) -> Any:
    content = message.get("content")
    return "" if content is None else content


def _read_reasoning(message: Mapping[str, Any], shared: _Shared) -> Iterator[Event]:
    text = message.get("reasoning")
    if text is not None and not isinstance(text, str):
        raise shape_error("reasoning must be a text", text)
    yield Reasoning(text=scrub(text or ""), **shared)


def _read_hidden_reasoning(message: Mapping[str, Any], shared: _Shared) -> Iterator[Event]:
    hidden = message.get("hidden_reasoning")
    data = None if hidden is None else {"hidden_reasoning": clean_json(hidden)}
    yield SystemEvent(kind=HIDDEN_REASONING, text=_text(message.get("state")), data=data, **shared)


def _read_approval_request(message: Mapping[str, Any], shared: _Shared) -> Iterator[Event]:
    calls = tuple(read_letta_calls(message, shared))
    yield from calls
    ids = [event.call_id for event in calls if isinstance(event, ToolCall)]
    yield SystemEvent(kind=APPROVAL_REQUEST, data={"tool_call_ids": ids}, **shared)


def _read_approval_response(message: Mapping[str, Any], shared: _Shared) -> Iterator[Event]:
    given = {key: message[key] for key in APPROVAL_FIELDS if message.get(key) is not None}
    reason = _text(message.get("reason"))
    yield SystemEvent(kind=APPROVAL_RESPONSE, text=reason, data=clean_json(given), **shared)


def _read_summary(message: Mapping[str, Any], shared: _Shared) -> Iterator[Event]:
    stats = clean_json(message.get("compaction_stats"))
    yield SystemEvent(kind=SUMMARY, text=_text(message.get("summary")), data=stats, **shared)


def _read_event(message: Mapping[str, Any], shared: _Shared) -> Iterator[Event]:
    kind, data = message.get("event_type"), clean_json(message.get("event_data"))
    if not isinstance(kind, str):
        yield from _read_unknown(message, shared)
    elif isinstance(data, dict) and data.keys() == {"text", "data"} and _is_text(data["text"]):
        # How letta_records writes a system event that has a text.
        yield SystemEvent(kind=scrub(kind), text=data["text"], data=data["data"], **shared)
    else:
        yield SystemEvent(kind=scrub(kind), data=data, **shared)


def _read_error(message: Mapping[str, Any], shared: _Shared) -> Iterator[Event]:
    kind, texts = message.get("error_type"), [_text(message.get("message"))]
    detail = _text(message.get("detail"))
    if detail not in texts[0]:
        texts.append(detail)
    kind = scrub(kind) if isinstance(kind, str) and kind else "error"
    yield ErrorEvent(kind=kind, message=" ".join(filter(None, texts)), **shared)


def _read_unknown(message: Mapping[str, Any], shared: _Shared) -> Iterator[Event]:
    fields = {k: v for k, v in message.items() if k != "message_type" and v is not None}
    yield SystemEvent(kind=letta_type(message), data=clean_json(fields), **shared)


def _read_nothing(_message: Mapping[str, Any], _shared: _Shared) -> Iterator[Event]:
    yield from ()


def _text(value: Any) -> str:
    if value is None:
        return ""
    return scrub(value) if isinstance(value, str) else compact_json(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


_READERS: Mapping[str, _Reader] = MappingProxyType(
    {
        "user_message": _read_user,
        "system_message": _read_system,
        "assistant_message": _read_assistant,
        "reasoning_message": _read_reasoning,
        "hidden_reasoning_message": _read_hidden_reasoning,
        "tool_call_message": read_letta_calls,
        "tool_return_message": read_letta_returns,
        "approval_request_message": _read_approval_request,
        "approval_response_message": _read_approval_response,
        "summary_message": _read_summary,
        "event_message": _read_event,
        "error_message": _read_error,
        "ping": _read_nothing,
        "stop_reason": _read_nothing,
        "usage_statistics": _read_nothing,
    }
)

KNOWN_TYPES = frozenset(_READERS)
"""The types of messages that are understood; of any other the fields are kept as they are."""
