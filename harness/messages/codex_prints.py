"""What `codex exec --json` prints (CLI of 2025 and 2026): its lines come in, events go out.

An item is told when it starts, on the way and when it is done: it is one call. The prompt is not
printed. A file change has no output of its own; a call that failed without one is an error.
"""

from collections.abc import Mapping
from typing import Any

from harness.messages.assistant_messages import read_id
from harness.messages.completions import read_usage, text_or_none
from harness.messages.outputs import read_output
from harness.messages.response_items import FAILED_CALL
from harness.messages.thinking import add_said
from harness.messages.turn_building import TurnBuilder
from harness.system.json_values import clean_json, compact_json

_LINES = ("thread.", "turn.", "item.")
_FAILED = ("failed", "declined")
_DONE = "item.completed"
_CALLS = ("command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search")
_RESULTS = frozenset(
    {"aggregated_output", "exit_code", "status", "result", "error", "agents_states"}
)
_ENVELOPE = _RESULTS | {"id", "type", "item_type"}


def is_printed_line(value: Any) -> bool:
    """Say whether a value is a line of what is printed."""
    kind = value.get("type") if isinstance(value, Mapping) else None
    if not isinstance(kind, str) or not kind.startswith(_LINES):
        return False
    if kind.startswith("item."):
        return isinstance(value.get("item"), Mapping)
    return kind in ("turn.started", "turn.completed", "turn.failed") or "thread_id" in value


class CodexPrints:
    """Reads lines into a conversation.

    `usage` is what was used in all; `failed` says why the last turn failed, None where it did not.
    """

    def __init__(self, builder: TurnBuilder) -> None:
        self._builder = builder
        self._open = False
        self._called: set[str] = set()
        self._pending: dict[str, Mapping[str, Any]] = {}
        self.thread: str | None = None
        self.usage = read_usage(None)
        self.failed: str | None = None

    def add(self, line: Any) -> None:
        """Add the next line.

        Raises:
            ValueError: it cannot be kept as JSON.
        """
        line = clean_json(line)
        kind = text_or_none(line.get("type")) if isinstance(line, Mapping) else None
        if kind is None:
            self._builder.keep_unread("line", line)
        elif kind.startswith("item.") and isinstance(line.get("item"), Mapping):
            self._add_item(line["item"], is_done=kind == _DONE)
        elif kind in ("turn.failed", "error"):
            self._add_error(kind, line)
        elif kind.startswith(("thread.", "turn.")):
            self._add_note(kind, line)
        else:
            self._builder.keep_unread(kind, line)

    def end(self) -> None:
        """Say that there are no more lines: items that were never done are kept."""
        for item in self._pending.values():
            self._builder.system(_kind(item), data=item)
        self._pending.clear()

    def _add_note(self, kind: str, line: Mapping[str, Any]) -> None:
        if kind == "thread.started":
            self._called.clear()
            self.thread = text_or_none(line.get("thread_id"))
        elif kind == "turn.completed":
            self.failed = None
            self.usage = read_usage(line.get("usage"))
        self._open = False
        self._builder.system(kind, data=line)

    def _add_error(self, kind: str, line: Mapping[str, Any]) -> None:
        error = line.get("error")
        inner = error.get("message") if isinstance(error, Mapping) else line.get("message")
        message = text_or_none(inner) or "no message"
        self.failed = message
        self._builder.error(kind, message)

    def _add_item(self, item: Mapping[str, Any], *, is_done: bool) -> None:
        kind, own = _kind(item), read_id(item.get("id")) or ""
        if kind in _CALLS:
            self._add_call(kind, item, is_done=is_done)
        elif kind == "todo_list":
            self._builder.system(kind, data=item)
        elif not is_done:
            self._pending[own] = item
        else:
            self._pending.pop(own, None)
            self._add_said(kind, item)

    def _add_said(self, kind: str, item: Mapping[str, Any]) -> None:
        text = item.get("text", item.get("message"))
        if kind in ("agent_message", "assistant_message") and isinstance(text, str):
            self._begin()
            add_said(self._builder, text)
        elif kind == "reasoning" and isinstance(text, str):
            self._begin()
            self._builder.reasoning(text)
        elif kind == "error":
            self._builder.error(kind, text if isinstance(text, str) else compact_json(item))
        else:
            self._builder.keep_unread(kind, item)

    def _begin(self) -> None:
        if not self._open:
            self._builder.begin_step()
            self._open = True

    def _add_call(self, kind: str, item: Mapping[str, Any], *, is_done: bool) -> None:
        own = read_id(item.get("id"))
        name = _name(kind, item)
        if own is None or own not in self._called:
            self._begin()
            arguments = {key: value for key, value in item.items() if key not in _ENVELOPE}
            if kind == "mcp_tool_call":
                arguments = item.get("arguments") or {}
            self._builder.call(own, name, arguments)
        if own is not None:
            self._called.add(own)
        if is_done:
            self._called.discard(own or "")
            self._add_result(kind, name, item)

    def _add_result(self, kind: str, name: str, item: Mapping[str, Any]) -> None:
        self._open = False
        call_id, failed = read_id(item.get("id")), item.get("status") in _FAILED
        printed, result, error = (
            item.get("aggregated_output"),
            item.get("result"),
            item.get("error"),
        )
        if kind == "command_execution" and isinstance(printed, str):
            code = {"exit_code": item["exit_code"]} if "exit_code" in item else None
            self._builder.result(call_id, printed, ok=not failed, structured=code)
        elif isinstance(result, Mapping):
            camel = {"structuredContent": result.get("structured_content"), "isError": failed}
            output = read_output({"content": {"content": result.get("content"), **camel}})
            self._builder.result(call_id, output.text, ok=output.ok, structured=output.structured)
        elif error:
            told = error.get("message") if isinstance(error, Mapping) else error
            self._builder.result(
                call_id, told if isinstance(told, str) else compact_json(error), ok=False
            )
        elif failed:
            message = f"{name} failed; no output is recorded"
            self._builder.error(FAILED_CALL, message, parent_call_id=call_id)


def _kind(item: Mapping[str, Any]) -> str:
    return text_or_none(item.get("type")) or text_or_none(item.get("item_type")) or "item"


def _name(kind: str, item: Mapping[str, Any]) -> str:
    tool = text_or_none(item.get("tool"))
    if kind == "mcp_tool_call" and tool:
        # As the sessions of the same program call it.
        return f"mcp__{item.get('server')}__{tool}"
    return tool or kind
