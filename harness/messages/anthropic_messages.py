"""Messages of Anthropic's Messages API (2023-06-01, betas included): they come in, events go out.

- A message of the user that holds nothing but tool results begins no turn; results come before
  what the user says beside them.
- Text blocks that follow each other are one text. What the provider runs (`server_tool_use`,
  `mcp_tool_use`) is a call, and its result stands in the message of the agent.
- The same blocks in the spelling of the Model Context Protocol (`toolUseId`) are read too.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from harness.messages.arguments import Arguments, read_arguments
from harness.messages.assistant_messages import part_event, read_id
from harness.messages.completions import read_usage, text_or_none
from harness.messages.contents import block_kind, block_text
from harness.messages.outputs import Output, read_output
from harness.messages.thinking import add_said
from harness.messages.turn_building import TurnBuilder
from harness.system.json_values import clean_json, compact_json
from harness.system.texts import scrub
from harness.types.trajectories import Step, Turn

_PARTS = (
    *("image", "document", "search_result", "container_upload", "redacted_thinking", "audio"),
    *("file", "resource", "resource_link", "fallback", "compaction"),
)
"""Blocks without text of their own: they are kept as system events."""

CUT_CALL = "incomplete_call"
"""The kind of the system event that follows a call whose arguments a stream cut off."""

_PRINTED = ("stdout", "stderr")


def is_anthropic_block(block: Any) -> bool:
    """Say whether a content block is of a type that only this API has."""
    if not isinstance(block, Mapping) or not isinstance(kind := block.get("type"), str):
        return False
    if kind.endswith("tool_use"):
        return "input" in block and isinstance(block.get("name"), str)
    if kind.endswith("tool_result"):
        return "tool_use_id" in block
    signed = kind == "thinking" and isinstance(block.get("thinking"), str) and "signature" in block
    return signed or (kind == "redacted_thinking" and "data" in block)


def is_anthropic_message(value: Any) -> bool:
    """Say whether a message holds a block that only this API has."""
    content = value.get("content") if isinstance(value, Mapping) and "role" in value else None
    return isinstance(content, list) and any(map(is_anthropic_block, content))


def is_anthropic_reply(value: Any) -> bool:
    """Say whether a value is a response of the API."""
    kinds = isinstance(value, Mapping) and (value.get("type"), value.get("role"))
    return kinds == ("message", "assistant") and isinstance(value.get("content"), list)


def read_anthropic_turns(messages: Iterable[Any]) -> tuple[Turn, ...]:
    """Read a conversation from the list of its messages.

    Raises:
        ValueError: one cannot be kept as JSON.
    """
    builder = TurnBuilder()
    reader = AnthropicMessages(builder)
    for message in messages:
        reader.add(message)
    return builder.trajectory().turns


class AnthropicMessages:
    """Reads messages into a conversation."""

    def __init__(self, builder: TurnBuilder) -> None:
        self._builder = builder
        self._fields: dict[str, Any] = {}

    def add(self, message: Any, **fields: Any) -> None:
        """Add the next message, or a response, which has its numbers; `fields` are its events'.

        Raises:
            ValueError: it cannot be kept as JSON.
        """
        message = clean_json(message)
        self._fields = fields
        role = message.get("role") if isinstance(message, Mapping) else None
        blocks = _blocks(message.get("content")) if isinstance(message, Mapping) else None
        if role == "user" and blocks is not None:
            self._add_user(blocks)
        elif role == "assistant" and blocks is not None:
            self._builder.begin_step(read_anthropic_step(message))
            self.add_blocks(blocks, **fields)
        elif role == "system" and blocks is not None:
            self.add_system(blocks)
        else:
            kind = role if isinstance(role, str) and role else "message"
            self._builder.keep_unread(kind, message, **fields)

    def add_system(self, system: Any) -> None:
        """Add the system prompt: a text, or text blocks."""
        blocks = _blocks(system)
        if blocks is None:
            self._builder.keep_unread("system", clean_json(system))
            return
        texts = [text for block in blocks if (text := block_text(block)) is not None]
        self._builder.system("system", "\n".join(texts))
        self._add_others([block for block in blocks if block_text(block) is None])

    def _add_user(self, blocks: list[Any]) -> None:
        results = [block for block in blocks if _is_result(block)]
        rest = [block for block in blocks if not _is_result(block)]
        for block in results:
            self._add_result(block)
        texts = [text for block in rest if (text := block_text(block)) is not None]
        if rest or not results:
            self._builder.user("\n".join(texts), **self._at())
        self._add_others([block for block in rest if block_text(block) is None])

    def _at(self) -> dict[str, Any]:
        return {"at": self._fields["at"]} if "at" in self._fields else {}

    def add_blocks(self, blocks: Iterable[Any], **fields: Any) -> None:
        """Add what the agent said and did, to the step that has begun."""
        self._fields = fields
        for is_text, group in groupby(blocks, key=lambda block: block_text(block) is not None):
            if is_text:
                add_said(self._builder, "".join(map(_text, group)), **self._fields)
            else:
                self._add_others(group)

    def _add_others(self, blocks: Iterable[Any]) -> None:
        for block in blocks:
            kind = block_kind(block) if isinstance(block, Mapping) else "content_block"
            if kind.endswith("tool_use") and isinstance(block.get("name"), str):
                self._add_call(block)
            elif _is_result(block):
                self._add_result(block)
            elif kind == "thinking" and isinstance(block.get("thinking"), str):
                self._builder.reasoning(block["thinking"], **self._fields)
            elif kind in _PARTS:
                part = part_event(block, {})
                self._builder.system(part.kind, part.text, part.data, **self._fields)
            else:
                self._builder.keep_unread(kind, block, **self._fields)

    def _add_call(self, block: Mapping[str, Any]) -> None:
        caller = block.get("caller")
        parent = read_id(caller.get("tool_id")) if isinstance(caller, Mapping) else None
        fields = {**self._fields, "parent_call_id": parent} if parent else self._fields
        arguments = _arguments(block)
        name, call_id = block["name"], read_id(block.get("id"))
        self._builder.call(call_id, name, arguments.value, arguments_text=arguments.text, **fields)
        if block.get("is_whole") is False:
            text = f"the stream ended before the arguments of {name} were whole"
            self._builder.system(CUT_CALL, text, {"call_id": call_id}, **self._fields)

    def _add_result(self, block: Mapping[str, Any]) -> None:
        output = read_anthropic_output(block)
        call_id = read_id(block.get("tool_use_id")) or read_id(block.get("toolUseId"))
        more = {"ok": output.ok, "structured": output.structured, **self._fields}
        self._builder.result(call_id, output.text, **more)


def _arguments(block: Mapping[str, Any]) -> Arguments:
    """Return the arguments of a call, which a stream sends as text; a text that was cut stays."""
    text = block.get("input_json")
    if not isinstance(text, str):
        value = block.get("input")
        return Arguments({} if value is None else value, None)
    return Arguments(text, text) if block.get("is_whole") is False else read_arguments(text)


def _text(block: Any) -> str:
    return block_text(block) or ""


def _blocks(content: Any) -> list[Any] | None:
    """Return the blocks of a content: a text is one, and MCP writes a single one bare."""
    if isinstance(content, str):
        return [content]
    if isinstance(content, Mapping):
        return [content]
    return content if isinstance(content, list) else None


def _is_result(block: Any) -> bool:
    return isinstance(block, Mapping) and block_kind(block).endswith("tool_result")


def read_anthropic_output(block: Mapping[str, Any]) -> Output:
    """Return what a result block holds.

    The content of a tool that the provider runs is an object: what was printed is its text, with
    the rest behind it; any other becomes compact JSON, and an error object is a failed result.
    """
    content = block.get("content")
    if "toolUseId" in block:
        flag = {"isError": block.get("isError", False)}
        return read_output({"content": {**block, **flag}})
    rows = content if isinstance(content, list) else [content]
    kinds = [str(row.get("type")) if isinstance(row, Mapping) else "" for row in rows]
    failed = bool(block.get("is_error")) or any(kind.endswith("_error") for kind in kinds)
    if isinstance(content, Mapping) and any(key in content for key in _PRINTED):
        texts = [content.get(key) for key in _PRINTED]
        printed = [scrub(text) for text in texts if isinstance(text, str) and text]
        return Output("\n".join(printed), not failed, content)
    if content and all(kind.endswith(("_result", "_error")) for kind in kinds):
        return Output(compact_json(content), not failed)
    return read_output({"content": content, "is_error": failed})


def read_anthropic_step(message: Mapping[str, Any]) -> Step:
    """Return the numbers of a response; a message of a request has none."""
    reasons = (message.get("stop_reason"), message.get("stopReason"))
    return Step(
        usage=read_usage(message.get("usage")),
        model=text_or_none(message.get("model")),
        stop_reason=next((reason for reason in map(text_or_none, reasons) if reason), None),
    )
