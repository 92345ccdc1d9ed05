"""The Model Context Protocol (2025-06-18 to 2026-07-28): what servers returned, and logs of both.

A record is a result of a tool (`CallToolResult`), a request for a model's reply with its messages
(`CreateMessageRequest`), which may be one object with the reply, or one content block. A file of
JSON-RPC messages is one conversation: each `tools/call` is a call, and its response the result.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.importers.merged_replies import followed_by
from harness.importers.record_fields import ID_ENTRIES, field_text, named_outcomes, without
from harness.messages.anthropic_messages import AnthropicMessages
from harness.messages.assistant_messages import part_event, read_id
from harness.messages.completions import text_or_none
from harness.messages.outputs import read_output
from harness.messages.turn_building import TurnBuilder
from harness.system.json_values import compact_json
from harness.types.imports import ForeignSource, Head, Imported

_BLOCKS = ("text", "image", "audio", "resource", "resource_link")
_RESULT = frozenset({"content", "structuredContent", "isError", "resultType", "_meta"})
_PARTS_OF_BLOCKS = ("mimeType", "annotations", "resource", "uri")


@dataclass(frozen=True, slots=True)
class MCP:
    """Results, messages and JSON-RPC logs of the Model Context Protocol."""

    specification: ClassVar[str] = "Model Context Protocol, 2025-06-18 to 2026-07-28"

    def claims(self, head: Head) -> bool:
        """Say whether the first record is one of the protocol."""
        first = head.values[0] if head.values else None
        first = first[0] if isinstance(first, list) and first else first
        return _is_rpc(first) or _reader_of(first) is not None

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return a conversation for each record, or one for a log.

        Raises:
            ValueError: a record is none of the protocol.
        """
        log: _Log | None = None
        for place, record in source.records():
            if log is None and _is_rpc(record):
                log = _Log(source.shown)
            try:
                if log is None:
                    yield _read_record(record, place)
                else:
                    log.add(record)
            except ValueError as error:
                problem = str(error)
                lead = "" if problem.startswith(place) else f"{place}: "
                raise ValueError(f"{lead}{problem}") from error
        if log is not None:
            yield log.imported()


def _is_rpc(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("jsonrpc") == "2.0"


def _is_result(value: Any) -> bool:
    """Say whether a value is the result of a tool, and can be nothing else."""
    if not isinstance(value, Mapping) or not isinstance(value.get("content"), list):
        return False
    marked = any(key in value for key in ("structuredContent", "isError", "resultType"))
    return marked and "role" not in value and set(value) <= _RESULT


def _is_request(value: Any) -> bool:
    """Say whether a value is a request with results in the protocol's spelling."""
    messages = value.get("messages") if isinstance(value, Mapping) else None
    if not isinstance(messages, list):
        return False
    blocks = [block for message in messages for block in _content(message)]
    single = any(isinstance(m, Mapping) and isinstance(m.get("content"), Mapping) for m in messages)
    named = any(isinstance(block, Mapping) and "toolUseId" in block for block in blocks)
    return named or (single and "maxTokens" in value)


def _content(message: Any) -> list[Any]:
    content = message.get("content") if isinstance(message, Mapping) else None
    return content if isinstance(content, list) else []


def _is_block(value: Any) -> bool:
    """Say whether a value is a content block, and can be nothing else."""
    if not isinstance(value, Mapping) or value.get("type") not in _BLOCKS or "role" in value:
        return False
    return any(key in value for key in _PARTS_OF_BLOCKS)


def _reader_of(record: Any) -> Callable[[TurnBuilder, Mapping[str, Any]], None] | None:
    readers = ((_is_result, _add_result), (_is_request, _add_request), (_is_block, _add_block))
    return next((add for matches, add in readers if matches(record)), None)


def _read_record(record: Any, place: str) -> Imported:
    add = _reader_of(record)
    if add is None:
        raise ValueError(f"{place}: the record is no result, request or content block")
    builder = TurnBuilder()
    add(builder, record)
    return Imported(
        place=place,
        trajectory=builder.trajectory(),
        sample_id=field_text(record, ID_ENTRIES),
        outcomes=named_outcomes(record),
        fields=without(record, "messages", "content", "structuredContent", "data"),
        unread=builder.unread,
    )


def _add_result(
    builder: TurnBuilder, result: Mapping[str, Any], call_id: str | None = None
) -> None:
    output = read_output({"content": {"isError": False, **result}})
    builder.result(call_id, output.text, ok=output.ok, structured=output.structured)


def _add_request(builder: TurnBuilder, request: Mapping[str, Any]) -> None:
    reader = AnthropicMessages(builder)
    if isinstance(request.get("systemPrompt"), str):
        reader.add_system(request["systemPrompt"])
    messages = request["messages"]
    if request.get("content") is not None:
        reply = {**without(request, "messages", "systemPrompt"), "role": "assistant"}
        messages = followed_by(messages, reply, "content")
    for message in messages:
        reader.add(message)


def _add_block(builder: TurnBuilder, block: Mapping[str, Any]) -> None:
    part = part_event(block, {})
    builder.system(part.kind, text_or_none(block.get("text")) or part.text, part.data)


class _Log:
    """Collects the JSON-RPC messages between a client and its servers."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._builder = TurnBuilder()
        self._calls: set[str] = set()

    def add(self, message: Any) -> None:
        """Add the next message."""
        method = message.get("method") if _is_rpc(message) else None
        own = read_id(message.get("id")) if _is_rpc(message) else None
        if not _is_rpc(message):
            self._builder.keep_unread("message", message)
        elif method == "tools/call":
            self._add_call(own, message)
        elif isinstance(method, str):
            self._builder.system(method, data=message)
        elif own in self._calls:
            self._add_answer(own, message)
        else:
            # The answer to a request that is no call, such as the list of tools.
            self._builder.system("response", data=message)

    def _add_call(self, own: str | None, message: Mapping[str, Any]) -> None:
        params = message.get("params")
        name = params.get("name") if isinstance(params, Mapping) else None
        if own is None or not isinstance(name, str) or not name:
            self._builder.keep_unread("tools/call", message)
            return
        arguments = params.get("arguments") if isinstance(params, Mapping) else None
        self._calls.add(own)
        self._builder.begin_step()
        self._builder.call(own, name, {} if arguments is None else arguments)

    def _add_answer(self, own: str | None, message: Mapping[str, Any]) -> None:
        result, error = message.get("result"), message.get("error")
        if isinstance(result, Mapping):
            _add_result(self._builder, result, own)
        elif error is not None:
            told = error.get("message") if isinstance(error, Mapping) else error
            text = text_or_none(told) or compact_json(error)
            self._builder.result(own, text, ok=False, structured=error)
        else:
            self._builder.keep_unread("response", message)

    def imported(self) -> Imported:
        """Return the record of the log."""
        trajectory = self._builder.trajectory()
        return Imported(place=self._place, trajectory=trajectory, unread=self._builder.unread)
