"""Messages inside spans, in the shapes that are in use: they come in, one shape goes out.

Read are the messages of the GenAI semantic conventions (1.37 to 1.40: `role` and `parts`), those
before (Chat Completions, in an event each), contents of Google's API, and blocks of Bedrock.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.messages.arguments import read_arguments
from harness.messages.assistant_messages import calls_of, read_call, read_id
from harness.messages.completions import text_or_none
from harness.messages.outputs import Output, read_output
from harness.messages.thinking import split_thinking
from harness.system.json_values import compact_json, load_json
from harness.types.events import (
    AssistantMessage,
    Event,
    Reasoning,
    SystemEvent,
    ToolCall,
    ToolResult,
)

_ROLES: Mapping[str, str] = {
    "ai": "assistant",
    "assistant": "assistant",
    "developer": "system",
    "function": "tool",
    "human": "user",
    "model": "assistant",
    "system": "system",
    "tool": "tool",
    "user": "user",
}
_TEXTS = ("text", "input_text", "output_text")
_THOUGHTS = ("reasoning", "thinking")
_CALLS = ("tool_call", "tool_use", "function_call", "server_tool_call")
_RESULTS = ("tool_call_response", "tool_result", "function_response", "server_tool_call_response")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanMessage:
    """A message: `role` is user, assistant, tool or system, or the source's word for another.

    `texts` is what is written in it, for an assistant in `events` too; `events` are the rest in
    order. Messages with the same `key` are the same.
    """

    role: str
    texts: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()
    key: int = 0
    reason: str | None = None


def parse_messages(value: Any, role: str = "user") -> list[SpanMessage]:
    """Read messages: a list, the JSON text of one, or a plain text that `role` has said."""
    if isinstance(value, str):
        try:
            found = load_json(value)
        except ValueError:
            found = None
        if not isinstance(found, list | Mapping):
            return [read_message({"role": role, "content": value})] if value else []
        value = found
    rows = value if isinstance(value, list) else [value]
    if rows and all(isinstance(row, Mapping) and _is_part(row) for row in rows):
        return [read_message({"role": role, "parts": rows})]
    return [read_message(row, role) for row in rows if row is not None]


def _is_part(row: Mapping[str, Any]) -> bool:
    return "role" not in row and "message" not in row and ("type" in row or "text" in row)


def read_message(value: Any, role: str = "user") -> SpanMessage:
    """Read one message; what is none becomes one of an unknown role."""
    if not isinstance(value, Mapping):
        return _message("message", (), [SystemEvent(kind="message", data=value)], None)
    inner = value.get("message")
    reason = text_or_none(value.get("finish_reason"))
    if isinstance(inner, Mapping) and "role" not in value:
        value, role = inner, "assistant"
    told = text_or_none(value.get("role")) or role
    role = _ROLES.get(told.lower(), told)
    if role not in _ROLES.values():
        return _message(role, (), [SystemEvent(kind=role, data=dict(value))], None)
    if isinstance(value.get("parts"), list):
        parts: Iterable[Any] = value["parts"]
        texts, events = _read_parts(role, parts)
    else:
        texts, events = _read_chat(role, value)
    return _message(role, texts, events, reason or text_or_none(value.get("finish_reason")))


def _message(
    role: str, texts: Iterable[str], events: list[Event], reason: str | None
) -> SpanMessage:
    texts = tuple(texts)
    has_result = any(isinstance(event, ToolResult) for event in events)
    shown = "tool" if role in ("user", "tool") and has_result and not any(texts) else role
    parts = [key for event in events if (key := _key(event)) is not None]
    words = [" ".join(text.split()) for text in texts]
    return SpanMessage(
        role=shown,
        texts=texts,
        events=tuple(events),
        key=hash((shown, *filter(None, words), *parts)),
        reason=reason,
    )


def _key(event: Event) -> Any:
    """Return what tells an event from another; a thought may be left out of a history."""
    match event:
        case ToolCall():
            return ("call", event.call_id or (event.name, compact_json(event.arguments)))
        case ToolResult():
            return ("result", event.call_id or event.output)
        case SystemEvent():
            return (event.kind, compact_json(event.data))
    return None


def _read_chat(role: str, value: Mapping[str, Any]) -> tuple[list[str], list[Event]]:
    """Read a message as the Chat Completions API has it; an event of a tool has its id in `id`."""
    content = value.get("content")
    if isinstance(content, str) and content.lstrip()[:1] == "[":
        content = _decoded(content)
    if role == "tool":
        call_id = read_id(value.get("tool_call_id")) or read_id(value.get("id"))
        if isinstance(content, list) and any(_is_result(part) for part in content):
            return _read_parts(role, content)
        return [], [_result(call_id, read_output({"content": content}))]
    parts = content if isinstance(content, list) else [] if content is None else [content]
    texts, events = _read_parts(role, parts)
    thought = text_or_none(value.get("reasoning_content"))
    if thought:
        events.insert(0, Reasoning(text=thought))
    calls = value.get("tool_calls")
    if isinstance(calls, str):
        value = {**value, "tool_calls": _decoded(calls)}
    try:
        events += [event for call in calls_of(value) for event in read_call(call, {})]
    except ValueError:
        events.append(SystemEvent(kind="tool_calls", data=value.get("tool_calls")))
    return texts, events


def _is_result(part: Any) -> bool:
    return isinstance(part, Mapping) and ("toolResult" in part or part.get("type") in _RESULTS)


def _decoded(text: str) -> Any:
    try:
        found = load_json(text)
    except ValueError:
        return text
    rows = found if isinstance(found, list) else [None]
    return found if all(isinstance(row, Mapping) for row in rows) else text


def _result(call_id: str | None, output: Output, *, ok: bool = True) -> ToolResult:
    return ToolResult(
        call_id=call_id,
        name=None,
        output=output.text,
        ok=ok and output.ok,
        structured=output.structured,
    )


def _read_parts(role: str, parts: Iterable[Any]) -> tuple[list[str], list[Event]]:
    texts: list[str] = []
    events: list[Event] = []
    for part in parts:
        text = _text_of(part)
        if text is None:
            events.append(_read_part(part))
        elif role == "assistant":
            visible, thoughts = split_thinking(text)
            events += [Reasoning(text=thought) for thought in thoughts]
            if visible or not thoughts:
                texts.append(visible)
                events.append(AssistantMessage(text=visible))
        else:
            texts.append(text)
    return texts, events


def _text_of(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping) or part.get("thought") is True:
        return None
    if part.get("type", "text") not in _TEXTS:
        return None
    found = part.get("content", part.get("text"))
    return found if isinstance(found, str) else None


def _read_part(part: Any) -> Event:
    if not isinstance(part, Mapping):
        return SystemEvent(kind="part", data=part)
    kind = text_or_none(part.get("type")) or ""
    for key, read in (
        *((name, _read_call) for name in ("function_call", "functionCall", "toolUse")),
        *((name, _read_wrapped) for name in ("function_response", "functionResponse")),
        ("toolResult", _read_result),
    ):
        if isinstance(part.get(key), Mapping):
            return read(part[key])
    if kind in _CALLS:
        return _read_call(part)
    if kind in _RESULTS:
        return _read_result(part)
    thought = next((t for key in ("content", "text", "thinking") if (t := part.get(key))), None)
    if isinstance(thought, str) and (kind in _THOUGHTS or part.get("thought") is True):
        return Reasoning(text=thought)
    return SystemEvent(kind=kind or "part", data=dict(part))


def _read_call(call: Mapping[str, Any]) -> Event:
    name = text_or_none(call.get("name"))
    if name is None:
        return SystemEvent(kind="tool_call", data=dict(call))
    own = read_id(call.get("id")) or read_id(call.get("toolUseId"))
    raw = next((call[key] for key in ("arguments", "args", "input") if key in call), None)
    arguments = read_arguments(raw)
    return ToolCall(
        call_id=own, name=name, arguments=arguments.value, arguments_text=arguments.text
    )


def _read_result(result: Mapping[str, Any]) -> Event:
    own = next(
        (i for k in ("id", "toolUseId", "tool_use_id") if (i := read_id(result.get(k)))), None
    )
    keys = ("response", "result", "content", "server_tool_call_response")
    content = next((result[key] for key in keys if key in result), None)
    failed = result.get("status") == "error" or result.get("is_error") is True
    if isinstance(content, list) and all(isinstance(row, Mapping) for row in content):
        # Bedrock's blocks have no type.
        content = [{"type": "text", **row} if set(row) == {"text"} else row for row in content]
    return _result(own, read_output({"content": content}), ok=not failed)


def _read_wrapped(result: Mapping[str, Any]) -> Event:
    return _result(read_id(result.get("id")), unwrap_result(result.get("response")))


def unwrap_result(content: Any) -> Output:
    """Return what a tool gave back; Google's kit wraps a plain value in `result`."""
    if isinstance(content, Mapping) and set(content) == {"result"}:
        inner = content["result"]
        text = inner if isinstance(inner, str) else compact_json(inner)
        return Output(text, structured=dict(content))
    return read_output({"content": content})
