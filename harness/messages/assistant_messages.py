"""An assistant's message: one in the Chat Completions shape comes in, its events go out.

In this order: reasoning, text, a refusal and parts other than text (images, audio), then the calls.
A message whose content is null has no text; one whose content is an empty text has an empty one.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from harness.messages.arguments import Arguments, read_arguments
from harness.messages.contents import Content, block_kind, read_content, shape_error
from harness.system.json_values import clean_json
from harness.system.texts import scrub
from harness.types.events import AssistantMessage, Event, Reasoning, SystemEvent, ToolCall

DUPLICATE_KEYS = "duplicate_keys"
"""The kind of the system event that follows a call whose arguments have a duplicate key."""

MODEL_REFUSAL = "refusal"
"""The kind of the system event that holds the text with which a model refused."""

_REASONING = ("reasoning_content", "reasoning")


def read_assistant_message(
    message: Mapping[str, Any], *, step: int | None = None, at: datetime | None = None
) -> tuple[Event, ...]:
    """Read the events of one assistant message; `step` is its index inside its turn.

    Raises:
        ValueError: it is not of that shape.
    """
    name = message.get("name")
    shared: dict[str, Any] = {"step": step, "at": at}
    if isinstance(name, str) and name:
        shared["agent"] = scrub(name)
    return (*_read_content(message, shared), *_read_calls(message, shared))


def _read_content(message: Mapping[str, Any], shared: Mapping[str, Any]) -> Iterator[Event]:
    content = message.get("content")
    parts = Content() if content is None else read_content(content)
    reasoning = [*_reasoning(message), *_thinking_blocks(parts)]
    yield from (Reasoning(text=text, **shared) for text in reasoning)
    if parts.texts or content in ("", []):
        yield AssistantMessage(text="".join(parts.texts), **shared)
    yield from _other_parts(message, parts, shared)


def _reasoning(message: Mapping[str, Any]) -> Iterator[str]:
    """Yield the first reasoning text; some endpoints send the same under two names."""
    texts = (message.get(key) for key in _REASONING)
    yield from [scrub(text) for text in texts if isinstance(text, str) and text][:1]


def _thinking_blocks(parts: Content) -> Iterator[str]:
    for block in parts.others:
        thinking = block.get("thinking") if block_kind(block) == "thinking" else None
        if isinstance(thinking, list):
            thinking = "".join(read_content(thinking).texts)
        if isinstance(thinking, str) and thinking:
            yield thinking


def _other_parts(
    message: Mapping[str, Any], parts: Content, shared: Mapping[str, Any]
) -> Iterator[Event]:
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        yield SystemEvent(kind=MODEL_REFUSAL, text=scrub(refusal), **shared)
    for block in parts.others:
        if block_kind(block) != "thinking":
            yield part_event(block, shared)
    audio = message.get("audio")
    if isinstance(audio, Mapping):
        yield part_event({"type": "audio", "audio": clean_json(audio)}, shared)


def part_event(block: Mapping[str, Any], shared: Mapping[str, Any]) -> SystemEvent:
    """Return a block other than text as a system event; `kind` is the source's word for it."""
    kind = block_kind(block)
    inner = block.get(kind)
    texts = (
        block.get(MODEL_REFUSAL),
        inner.get("transcript") if isinstance(inner, Mapping) else None,
    )
    text = next((text for text in texts if isinstance(text, str)), "")
    return SystemEvent(kind=kind, text=text, data=dict(block), **shared)


def _read_calls(message: Mapping[str, Any], shared: Mapping[str, Any]) -> Iterator[Event]:
    for index, call in enumerate(calls_of(message)):
        try:
            yield from read_call(call, shared)
        except ValueError as error:
            raise ValueError(f"tool call {index}: {error}") from error


def calls_of(message: Mapping[str, Any]) -> Sequence[Any]:
    """Return the calls of a message in whatever shape: a list, one object, `function_call`.

    Raises:
        ValueError: `tool_calls` is neither.
    """
    calls = message.get("tool_calls")
    if isinstance(calls, Mapping):
        calls = [calls]
    if calls is not None and not isinstance(calls, list | tuple):
        raise shape_error("tool_calls must be a list", calls)
    legacy = message.get("function_call")
    return [*(calls or []), *([legacy] if isinstance(legacy, Mapping) else [])]


def read_call(call: Any, shared: Mapping[str, Any]) -> Iterator[Event]:
    """Yield a call, and a system event for duplicate keys in its arguments.

    Raises:
        ValueError: it is not an object with a name.
    """
    if not isinstance(call, Mapping):
        raise shape_error("must be an object", call)
    name, arguments = _name_and_arguments(call)
    if not isinstance(name, str) or not name:
        raise shape_error("name must be a non-empty text", name)
    call_id, name = read_id(call.get("id") or call.get("call_id")), scrub(name)
    yield ToolCall(
        call_id=call_id,
        name=name,
        arguments=arguments.value,
        arguments_text=arguments.text,
        **shared,
    )
    if arguments.duplicates:
        yield _duplicate_keys(call_id, name, arguments.duplicates, shared)


def _name_and_arguments(call: Mapping[str, Any]) -> tuple[Any, Arguments]:
    custom = call.get("custom")
    if isinstance(custom, Mapping):
        # The input of a custom tool is free text, also where it looks like JSON.
        text = scrub(str(custom.get("input") or ""))
        return custom.get("name"), Arguments(text, text)
    function = call.get("function")
    inner = function if isinstance(function, Mapping) else call
    return inner.get("name"), read_arguments(inner.get("arguments"))


def read_id(value: Any) -> str | None:
    """Return a call's id as text, None for a missing or empty one."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return scrub(value) if isinstance(value, str) and value else None


def _duplicate_keys(
    call_id: str | None, name: str, keys: Sequence[str], shared: Mapping[str, Any]
) -> SystemEvent:
    listed = ", ".join(f'"{key}"' for key in keys)
    return SystemEvent(
        kind=DUPLICATE_KEYS,
        text=f"duplicate keys in the arguments of {name}: {listed}; the last value counts",
        data={"call_id": call_id, "keys": list(keys)},
        **shared,
    )
