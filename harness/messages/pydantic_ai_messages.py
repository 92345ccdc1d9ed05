"""Messages of Pydantic AI (0.1 to 2.x): a result or its messages come in, events go out.

A conversation is requests and responses, each of parts; they come as objects, known by `kind` and
`part_kind`, or as `all_messages_json()` writes them. A retry prompt of a tool is a failed result;
one for the whole reply is a system event, since the framework wrote it and not the user.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.messages.arguments import read_arguments
from harness.messages.assistant_messages import read_id
from harness.messages.completions import read_usage, text_or_none
from harness.messages.letta_messages import read_date
from harness.messages.outputs import read_output
from harness.messages.plain_values import fields_of, plain, take
from harness.messages.retry_prompts import RETRY_PROMPT
from harness.messages.thinking import add_said
from harness.messages.turn_building import TurnBuilder
from harness.system.json_values import compact_json
from harness.types.trajectories import Step, Turn

_KINDS = ("request", "response")
_FAILED = ("failed", "denied", "interrupted", "retried")
_NOTES = ("instruction", "tool-availability", "capability-load", "model-settings")
"""Beginnings of the kinds of parts that tell the model of its settings."""


def is_pydantic_ai_messages(value: Any) -> bool:
    """Say whether a value is the messages of a conversation."""
    return isinstance(value, list | tuple) and bool(value) and all(map(_is_message, value))


def _is_message(value: Any) -> bool:
    if isinstance(value, str | type) or value is None:
        return False
    is_one = take(value, "kind") in _KINDS and isinstance(take(value, "parts"), list | tuple)
    return bool(is_one)


def is_pydantic_ai_result(value: Any) -> bool:
    """Say whether an object is the result of a run, without importing the library."""
    if isinstance(value, Mapping | type):
        return False
    return callable(getattr(value, "all_messages", None))


def read_pydantic_ai_turns(answer: Any) -> tuple[Turn, ...]:
    """Read the result of a run, or its messages.

    Raises:
        ValueError: it holds no messages, or one cannot be kept as JSON.
    """
    messages = answer.all_messages() if is_pydantic_ai_result(answer) else answer
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        raise ValueError("all_messages() must be a list")  # noqa: TRY004  (the agent's, not ours)
    builder = TurnBuilder()
    PydanticAIMessages(builder).add_all(messages)
    return builder.trajectory().turns


class PydanticAIMessages:
    """Reads messages into a conversation."""

    def __init__(self, builder: TurnBuilder) -> None:
        self._builder = builder
        self._instructions: str | None = None

    def add_all(self, messages: Iterable[Any]) -> None:
        """Add messages, as objects or as mappings.

        Raises:
            ValueError: one cannot be kept as JSON.
        """
        for message in messages:
            parts = take(message, "parts") if _is_message(message) else None
            if parts is None:
                self._builder.keep_unread("message", plain(message))
            elif take(message, "kind") == "request":
                self._add_request(message, parts)
            else:
                self._builder.begin_step(_step(message))
                at = _at(message)
                for part in parts:
                    self._add_reply(part, at)

    def _add_request(self, message: Any, parts: Iterable[Any]) -> None:
        instructions = take(message, "instructions")
        if isinstance(instructions, str) and instructions != self._instructions:
            # They are sent with every request, and told when they change.
            self._builder.system("instructions", instructions)
            self._instructions = instructions
        for part in parts:
            self._add_part(take(part, "part_kind"), part, _at(part))

    def _add_part(self, kind: Any, part: Any, at: dict[str, Any]) -> None:
        if kind == "user-prompt":
            self._add_user(take(part, "content"), at)
        elif kind == "tool-return":
            self._add_result(part, at)
        elif kind in ("retry-prompt", "retry-feedback"):
            self._add_retry(part, at)
        elif kind == "system-prompt":
            self._builder.system("system", _text(take(part, "content")), **at)
        elif isinstance(kind, str) and kind.startswith(_NOTES):
            self._builder.system(kind, data=plain(part), **at)
        else:
            self._builder.keep_unread(kind if isinstance(kind, str) else "part", plain(part), **at)

    def _add_user(self, content: Any, at: dict[str, Any]) -> None:
        items = content if isinstance(content, list | tuple) else [content]
        texts = [item for item in items if isinstance(item, str)]
        self._builder.user("\n".join(map(_text, texts)), **at)
        for item in items:
            if not isinstance(item, str):
                kind = take(item, "kind")
                self._builder.system(kind if isinstance(kind, str) else "content", data=plain(item))

    def _add_result(self, part: Any, at: dict[str, Any]) -> None:
        outcome = take(part, "outcome")
        output = read_output({
            "content": plain(take(part, "content")),
            "is_error": isinstance(outcome, str) and outcome in _FAILED,
        })  # fmt: skip
        call_id = read_id(take(part, "tool_call_id"))
        self._builder.result(call_id, output.text, ok=output.ok, structured=output.structured, **at)

    def _add_retry(self, part: Any, at: dict[str, Any]) -> None:
        text = _text(take(part, "content"))
        if isinstance(take(part, "tool_name"), str):
            self._builder.result(read_id(take(part, "tool_call_id")), text, ok=False, **at)
        else:
            self._builder.system(RETRY_PROMPT, text, **at)

    def _add_reply(self, part: Any, at: dict[str, Any]) -> None:
        kind, content = take(part, "part_kind"), take(part, "content")
        if kind == "text":
            add_said(self._builder, _text(content), **at)
        elif kind == "thinking" and isinstance(content, str) and content:
            self._builder.reasoning(_text(content), **at)
        elif kind in ("tool-call", "builtin-tool-call", "native-tool-call"):
            self._add_call(part, at)
        elif kind in ("builtin-tool-return", "native-tool-return"):
            self._add_result(part, at)
        elif kind in ("thinking", "file", "compaction"):
            self._builder.system(kind, data=plain(part), **at)
        else:
            self._builder.keep_unread(kind if isinstance(kind, str) else "part", plain(part), **at)

    def _add_call(self, part: Any, at: dict[str, Any]) -> None:
        name = take(part, "tool_name")
        if not isinstance(name, str) or not name:
            self._builder.keep_unread("tool-call", plain(part), **at)
            return
        arguments = read_arguments(plain(take(part, "args")))
        self._builder.call(
            read_id(take(part, "tool_call_id")),
            plain(name),
            arguments.value,
            arguments_text=arguments.text,
            **at,
        )


def _text(content: Any) -> str:
    """Return a text as it is, what is missing as none, and anything else as compact JSON."""
    found = plain(content)
    if found is None:
        return ""
    return found if isinstance(found, str) else compact_json(found)


def _at(holder: Any) -> dict[str, Any]:
    at = read_date(take(holder, "timestamp"))
    return {} if at is None else {"at": at}


def _step(message: Any) -> Step:
    usage = fields_of(take(message, "usage"))
    former = {"input_tokens": "request_tokens", "output_tokens": "response_tokens"}
    numbers = {} if usage is None else {
        name: usage.get(name, usage.get(old)) for name, old in former.items()
    }  # fmt: skip
    return Step(
        usage=read_usage(numbers),
        model=text_or_none(take(message, "model_name")),
        stop_reason=text_or_none(take(message, "finish_reason")),
    )
