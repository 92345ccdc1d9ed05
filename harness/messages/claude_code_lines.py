"""Lines of a session of Claude Code (1.x, 2.x): they come in, events of one conversation go out.

A reply is written one line a block, with the same id: it is one step. What the program or another
agent writes in the user's place is no turn. Lines that are no messages are system events; those
that are not understood are kept with their number.
"""

from collections.abc import Mapping
from itertools import compress
from typing import Any

from harness.messages.anthropic_messages import (
    AnthropicMessages,
    read_anthropic_output,
    read_anthropic_step,
)
from harness.messages.assistant_messages import part_event, read_id
from harness.messages.claude_code_notices import is_clear, split_notices
from harness.messages.completions import text_or_none
from harness.messages.contents import block_kind, block_text
from harness.messages.foreign_times import read_time
from harness.messages.turn_building import AGENT_PROMPT, TurnBuilder
from harness.system.json_values import clean_json

_API_ERROR = "api_error"
_SYNTHETIC = "<synthetic>"
_AGENT_NOTE = "agentId: "
_NOTES = frozenset(
    {"agent-color", "agent-name", "agent-setting", "ai-title", "attachment", "auth_status"}
    | {"content-replacement", "custom-title", "file-history-snapshot", "last-prompt", "mode"}
    | {"permission-mode", "pr-link", "progress", "queue-operation", "rate_limit_event", "result"}
    | {"stream_event", "summary", "system", "tag", "task-summary", "tool_progress"}
    | {"tool_use_summary", "worktree-state"}
)
"""Lines that are neither said nor done: they are kept as system events."""


def is_session_line(value: Any) -> bool:
    """Say whether a value is a line that holds a message."""
    if not isinstance(value, Mapping) or value.get("type") not in ("user", "assistant"):
        return False
    return "message" in value and any(key in value for key in ("uuid", "sessionId", "session_id"))


def is_session_note(value: Any) -> bool:
    """Say whether a value is a line beside the messages."""
    kind = value.get("type") if isinstance(value, Mapping) else None
    named = isinstance(kind, str) and kind in _NOTES
    return named and any(key in value for key in ("leafUuid", "sessionId", "messageId"))


def is_said_line(line: Mapping[str, Any]) -> bool:
    """Say whether a line is said or done, not only a notice of the program."""
    if line.get("type") == "assistant":
        return True
    if line.get("type") != "user" or line.get("isMeta") or line.get("isCompactSummary"):
        return False
    blocks = [block for block in _contents(line) if isinstance(block, str | Mapping)]
    return any((text := block_text(block)) is None or _written(text) for block in blocks)


def is_clear_line(line: Mapping[str, Any]) -> bool:
    """Say whether a line is the command that forgets the conversation."""
    texts = [block_text(block) for block in _contents(line)]
    return line.get("type") == "user" and any(text and is_clear(text) for text in texts)


def _contents(line: Mapping[str, Any]) -> list[Any]:
    message = line.get("message")
    content = message.get("content") if isinstance(message, Mapping) else None
    return content if isinstance(content, list) else [content]


class ClaudeCodeLines:
    """Reads lines into a conversation; `is_sub_agent` says that no user speaks in it.

    `failed` is what the endpoint answered in place of the last reply, None where there is one.
    """

    def __init__(self, builder: TurnBuilder, *, is_sub_agent: bool = False) -> None:
        self._builder = builder
        self._messages = AnthropicMessages(builder)
        self._is_sub_agent = is_sub_agent
        self._reply: str | None = None
        self.failed: str | None = None

    def add(self, line: Any, number: int) -> None:
        """Add the next line; `number` counts from 1.

        Raises:
            ValueError: it cannot be kept as JSON.
        """
        line = clean_json(line)
        kind = line.get("type") if isinstance(line, Mapping) else None
        message = line.get("message") if isinstance(line, Mapping) else None
        content = message.get("content") if isinstance(message, Mapping) else None
        if kind == "user" and isinstance(content, str | list):
            self._add_user(line, content, number)
        elif kind == "assistant" and isinstance(content, str | list):
            self._add_assistant(line, content, number)
        elif isinstance(kind, str) and kind in _NOTES:
            self._add_note(kind, line)
        else:
            self.keep(kind if isinstance(kind, str) and kind else "line", line, number)

    def keep(self, kind: str, value: Any, number: int) -> None:
        """Keep what is not understood, with the number of its line."""
        self._builder.keep_unread(kind, {"line": number, "value": value})

    def _add_note(self, kind: str, line: Mapping[str, Any]) -> None:
        subtype = text_or_none(line.get("subtype"))
        texts = (line.get("content"), line.get("summary"), line.get("result"))
        text = next((text for text in texts if isinstance(text, str)), "")
        name = subtype if kind == "system" and subtype else kind
        self._builder.system(name, text, line, at=read_time(line.get("timestamp")))

    def _blocks(self, content: str | list[Any], number: int) -> list[Any]:
        """Return the blocks of a content; bare texts among them are none."""
        if isinstance(content, str):
            return [{"type": "text", "text": content}]
        for item in content:
            if not isinstance(item, Mapping):
                self.keep("content_item", item, number)
        return [item for item in content if isinstance(item, Mapping)]

    def _add_user(self, line: Mapping[str, Any], content: str | list[Any], number: int) -> None:
        fields = {"at": read_time(line.get("timestamp"))}
        blocks = self._blocks(content, number)
        results = [block for block in blocks if block_kind(block) == "tool_result"]
        for block in results:
            structured = line.get("toolUseResult") if len(results) == 1 else None
            self._add_result(block, structured, fields)
        texts = [text for block in blocks if (text := block_text(block)) is not None]
        others = [b for b in blocks if block_kind(b) != "tool_result" and block_text(b) is None]
        said = [text for text in texts if self._is_said(text, line, fields)]
        told = [text for text in map(_written, texts) if text] if said else []
        if told or (others and not results and not self._is_written_for(line)):
            self._builder.user("\n".join(told), **fields)
            self._reply = None
        for block in others:
            self._builder.add(part_event(block, {}))

    def _is_said(self, text: str, line: Mapping[str, Any], fields: dict[str, Any]) -> bool:
        """Add the notices of a text; say whether the user wrote the rest."""
        kind = self._is_written_for(line)
        if kind is not None:
            self._builder.system(kind, text, **fields)
            return False
        notices, rest = split_notices(text)
        for notice in notices:
            self._builder.system(notice.kind, notice.text, **fields)
        return bool(rest)

    def _is_written_for(self, line: Mapping[str, Any]) -> str | None:
        """Return the kind of a line that the program or an agent wrote; None for the user's."""
        if line.get("isCompactSummary"):
            return "compact_summary"
        if self._is_sub_agent:
            return AGENT_PROMPT
        return "meta" if line.get("isMeta") else None

    def _add_result(
        self, block: Mapping[str, Any], structured: Any, fields: dict[str, Any]
    ) -> None:
        content = block.get("content")
        rows = content if isinstance(content, list) else []
        is_note = [n > 0 and _is_agent_note(row) for n, row in enumerate(rows)]
        notes = list(compress(rows, is_note))
        if notes:
            kept = [row for row, noted in zip(rows, is_note, strict=True) if not noted]
            block = {**block, "content": kept}
        output = read_anthropic_output(block)
        behind = structured if isinstance(structured, Mapping | list) else output.structured
        call_id = read_id(block.get("tool_use_id"))
        self._builder.result(call_id, output.text, ok=output.ok, structured=behind, **fields)
        for note in notes:
            self._builder.system("agent_note", block_text(note) or "", **fields)

    def _add_assistant(
        self, line: Mapping[str, Any], content: str | list[Any], number: int
    ) -> None:
        fields = {"at": read_time(line.get("timestamp"))}
        blocks = self._blocks(content, number)
        text = "\n".join(text for block in blocks if (text := block_text(block)) is not None)
        message = line["message"]
        if line.get("isApiErrorMessage"):
            self.failed = text
            self._builder.error(_API_ERROR, text, **fields)
            return
        if message.get("model") == _SYNTHETIC:
            self._builder.system("synthetic", text, **fields)
            return
        self.failed = None
        own = text_or_none(message.get("id"))
        step = read_anthropic_step(message)
        if own is not None and own == self._reply:
            self._builder.end_step(step)
        else:
            self._builder.begin_step(step)
        self._reply = own
        self._messages.add_blocks(blocks, **fields)


def _is_agent_note(row: Any) -> bool:
    return (block_text(row) or "").startswith(_AGENT_NOTE)


def _written(text: str) -> str:
    return split_notices(text)[1]
