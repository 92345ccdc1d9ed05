"""LangChain and LangGraph conversations (langchain-core 0.1 to 1.x): messages in, events out.

A call is often listed twice, in `tool_calls` and as the provider wrote it (`additional_kwargs`, or
a block of the content): it counts once. Reasoning stands in blocks or in `additional_kwargs`.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from harness.messages.anthropic_messages import read_anthropic_output
from harness.messages.assistant_messages import MODEL_REFUSAL, part_event, read_call, read_id
from harness.messages.completions import read_usage, text_or_none
from harness.messages.contents import block_kind, block_text, read_content
from harness.messages.langchain_shapes import is_langchain_message, plain_messages
from harness.messages.outputs import Output, read_output
from harness.messages.plain_values import take
from harness.messages.response_tools import is_call, read_call_item
from harness.messages.thinking import add_said
from harness.messages.turn_building import TurnBuilder
from harness.types.events import SystemEvent, ToolCall
from harness.types.trajectories import Step, Turn

_CALL_BLOCKS = ("tool_use", "tool_call", "function_call", "input_json_delta", "tool_call_chunk")
"""Blocks that repeat a call of `tool_calls`."""
_PARTS = (
    *("image", "image_url", "audio", "input_audio", "video", "file", "document", "media"),
    *("text-plain", "non_standard", "refusal", "redacted_thinking", "search_result"),
)


def is_langchain_state(value: Any) -> bool:
    """Say whether a value is LangChain messages, or a state of LangGraph that holds them."""
    messages = value if isinstance(value, list | tuple) else _state_messages(value)
    return isinstance(messages, list | tuple) and any(map(is_langchain_message, messages))


def _state_messages(value: Any) -> Any:
    # A text or a model class has no messages of a conversation.
    return None if isinstance(value, str | type) else take(value, "messages")


def read_langchain_turns(state: Any) -> tuple[Turn, ...]:
    """Read messages, or the `messages` of a state of LangGraph.

    Raises:
        ValueError: one cannot be kept as JSON.
    """
    messages = state if isinstance(state, list | tuple) else _state_messages(state)
    builder = TurnBuilder()
    LangChainMessages(builder).add_all(messages or ())
    return builder.trajectory().turns


class LangChainMessages:
    """Reads messages into a conversation."""

    def __init__(self, builder: TurnBuilder) -> None:
        self._builder = builder

    def add_all(self, messages: Iterable[Any]) -> None:
        """Add messages, in any of their spellings.

        Raises:
            ValueError: one cannot be kept as JSON.
        """
        for message in plain_messages(messages):
            self._add(message)

    def _add(self, message: Any) -> None:
        kind = message.get("kind") if isinstance(message, Mapping) else None
        content = message.get("content") if isinstance(message, Mapping) else None
        if content is None:
            content = ""
        if kind == "tool":
            self._add_result(message)
        elif kind not in ("user", "assistant", "system") or not isinstance(content, str | list):
            word = kind if isinstance(kind, str) and kind else "message"
            self._keep(word, message)
        elif kind == "assistant":
            self._builder.begin_step(_step(message))
            _Reply(self._builder, message).add(_blocks(content))
        else:
            self._add_said_by_others(kind, content)

    def _keep(self, word: str, message: Any) -> None:
        if word == "remove":
            # The graph took a message out of its state.
            self._builder.system("remove", data=message)
        else:
            self._builder.keep_unread(word, message)

    def _add_said_by_others(self, kind: str, content: Any) -> None:
        try:
            parts = read_content(content)
        except ValueError:
            self._builder.keep_unread(kind, content)
            return
        if kind == "user":
            self._builder.user("\n".join(parts.texts))
        else:
            self._builder.system("system", "\n".join(parts.texts))
        for block in parts.others:
            part = part_event(block, {})
            self._builder.system(part.kind, part.text, part.data)

    def _add_result(self, message: Mapping[str, Any]) -> None:
        output = read_output({"content": message.get("content"), "status": message.get("status")})
        structured = message.get("artifact") if output.structured is None else output.structured
        call_id = read_id(message.get("tool_call_id"))
        self._builder.result(call_id, output.text, ok=output.ok, structured=structured)


def _blocks(content: str | list[Any]) -> list[Any]:
    if isinstance(content, list):
        return content
    return [content] if content else []


def _step(message: Mapping[str, Any]) -> Step:
    metadata = message.get("response_metadata")
    own: Mapping[str, Any] = metadata if isinstance(metadata, Mapping) else {}
    reasons = (own.get(key) for key in ("finish_reason", "stop_reason", "done_reason", "status"))
    usage = message.get("usage_metadata")
    return Step(
        usage=read_usage(usage or own.get("token_usage") or own.get("usage")),
        model=text_or_none(own.get("model_name")) or text_or_none(own.get("model")),
        stop_reason=next((reason for reason in map(text_or_none, reasons) if reason), None),
    )


class _Reply:
    """Reads one message of the agent."""

    def __init__(self, builder: TurnBuilder, message: Mapping[str, Any]) -> None:
        self._builder = builder
        self._message = message
        more = message.get("additional_kwargs")
        self._more: Mapping[str, Any] = more if isinstance(more, Mapping) else {}
        agent = text_or_none(message.get("name"))
        self._fields: dict[str, Any] = {"agent": agent} if agent else {}
        self._called: set[str] = set()
        self._listed = {
            own
            for call in _rows(message.get("tool_calls"))
            if isinstance(call, Mapping) and (own := read_id(call.get("id")))
        }

    def add(self, blocks: list[Any]) -> None:
        """Add its reasoning, its texts, and its calls."""
        if not any(_kind(block) in ("reasoning", "thinking") for block in blocks):
            for text in _reasoning({**self._message, **self._more}):
                self._builder.reasoning(text, **self._fields)
        for is_text, group in groupby(blocks, key=lambda block: block_text(block) is not None):
            if is_text:
                texts = [block_text(block) or "" for block in group]
                add_said(self._builder, "".join(texts), **self._fields)
            else:
                for block in group:
                    self._add_block(_kind(block), block)
        refusal = text_or_none({**self._message, **self._more}.get("refusal"))
        if refusal:
            self._builder.system(MODEL_REFUSAL, refusal, **self._fields)
        self._add_calls()

    def _add_block(self, kind: str, block: Any) -> None:
        if kind in ("reasoning", "thinking"):
            self._add_reasoning(kind, block)
        elif kind in _CALL_BLOCKS:
            self._add_call_block(kind, block)
        elif kind.endswith("tool_result"):
            self._add_result_block(block)
        elif kind in _PARTS:
            part = part_event(block, {})
            self._builder.system(part.kind, part.text, part.data, **self._fields)
        else:
            self._add_provider_call(kind, block)

    def _add_reasoning(self, kind: str, block: Mapping[str, Any]) -> None:
        texts = list(_reasoning({"reasoning": block}))
        for text in texts:
            self._builder.reasoning(text, **self._fields)
        if not texts:
            # What it thought is hidden; that it did is kept.
            self._builder.system(kind, data=block, **self._fields)

    def _add_call_block(self, kind: str, block: Mapping[str, Any]) -> None:
        own = read_id(block.get("call_id")) or read_id(block.get("id"))
        is_piece = kind in ("input_json_delta", "tool_call_chunk") or not block.get("name")
        if not is_piece and own not in self._listed:
            self._add_call({**block, "id": own})

    def _add_calls(self) -> None:
        calls = _rows(self._message.get("tool_calls"))
        for call in calls:
            self._add_call(call)
        for call in _rows(self._message.get("invalid_tool_calls")):
            self._add_call(call)
        given = _rows(self._more.get("tool_calls"))
        legacy = self._more.get("function_call")
        for call in [*given, *([legacy] if isinstance(legacy, Mapping) else [])]:
            own = read_id(call.get("id")) if isinstance(call, Mapping) else None
            if own not in self._called and not (own is None and calls):
                self._add_call(call)

    def _add_call(self, call: Any) -> None:
        """Add a call: `{"name", "args", "id"}`, or as OpenAI or Anthropic write it."""
        own = read_id(call.get("id")) if isinstance(call, Mapping) else None
        if own is not None and own in self._called:
            return
        try:
            events = list(read_call(_openai_call(call), {}))
        except ValueError:
            self._builder.keep_unread("tool_call", call, **self._fields)
            return
        if own is not None:
            self._called.add(own)
        for event in events:
            if isinstance(event, ToolCall):
                text = event.arguments_text
                self._builder.call(
                    event.call_id, event.name, event.arguments, arguments_text=text, **self._fields
                )
            elif isinstance(event, SystemEvent):
                self._builder.system(event.kind, event.text, event.data, **self._fields)

    def _add_provider_call(self, kind: str, block: Any) -> None:
        """Add a call that the provider has run, in the words of whichever provider."""
        if kind == "server_tool_call" or kind.endswith("tool_use"):
            self._add_call(block)
        elif is_call(kind) and ("call_id" in block or "status" in block):
            call = read_call_item(block)
            value, text = call.arguments.value, call.arguments.text
            self._builder.call(call.call_id, call.name, value, arguments_text=text, **self._fields)
            if call.result is not None:
                self._add_output(call.call_id, call.result)
        else:
            self._builder.keep_unread(kind, block, **self._fields)

    def _add_result_block(self, block: Mapping[str, Any]) -> None:
        content = block.get("output", block.get("content"))
        failed = bool(block.get("is_error")) or block.get("status") == "error"
        output = read_anthropic_output({"content": content, "is_error": failed})
        ids = (block.get("tool_use_id"), block.get("tool_call_id"))
        self._add_output(next((own for own in map(read_id, ids) if own), None), output)

    def _add_output(self, call_id: str | None, output: Output) -> None:
        more = {"ok": output.ok, "structured": output.structured, **self._fields}
        self._builder.result(call_id, output.text, **more)


def _openai_call(call: Any) -> Any:
    """Return a call in the shape that the reader of Chat Completions takes."""
    if not isinstance(call, Mapping) or isinstance(call.get("function"), Mapping):
        return call
    arguments = next((call[key] for key in ("args", "input", "arguments") if key in call), None)
    return {"id": call.get("id"), "name": call.get("name"), "arguments": arguments}


def _kind(block: Any) -> str:
    return block_kind(block) if isinstance(block, Mapping) else "content_block"


def _rows(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _reasoning(holder: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the model thought, wherever a provider puts it."""
    texts = [holder.get("reasoning_content")]
    inner = holder.get("reasoning")
    if isinstance(inner, Mapping):
        texts += [inner.get("reasoning"), inner.get("thinking"), inner.get("text")]
        summary = inner.get("summary")
        texts += [take(part, "text") for part in _rows(summary) if isinstance(part, Mapping)]
    else:
        texts.append(inner)
    yield from [text for text in texts if isinstance(text, str) and text]
