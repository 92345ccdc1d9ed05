"""Lines of a session of Codex (CLI of 2025 and 2026): they come in, events go out.

What the model was given and said are items of the Responses API. Events of the program that tell
the same again are left out where there are items; where there are none they are the conversation.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from harness.messages.assistant_messages import read_id
from harness.messages.codex_texts import framework_kind, unwrap_output
from harness.messages.completions import read_usage, text_or_none
from harness.messages.contents import block_text
from harness.messages.foreign_times import read_time
from harness.messages.response_items import ResponseItems, is_item
from harness.messages.thinking import add_said
from harness.messages.turn_building import AGENT_PROMPT, TurnBuilder
from harness.system.json_values import clean_json

_ENVELOPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_REPEATED = frozenset(
    {"agent_message", "agent_reasoning", "agent_reasoning_raw_content", "user_message"}
    | {"exec_command_begin", "exec_command_end", "exec_command_output_delta"}
    | {"mcp_tool_call_begin", "mcp_tool_call_end", "patch_apply_begin", "patch_apply_end"}
    | {"view_image_tool_call", "web_search_begin", "web_search_end"}
)
"""Events that tell again what the items say."""

_NOTES = frozenset(
    {"background_event", "context_compacted", "deprecation_notice", "entered_review_mode"}
    | {"exited_review_mode", "item_completed", "item_started", "plan_update", "task_complete"}
    | {"task_started", "thread_goal_updated", "thread_name_updated", "thread_rolled_back"}
    | {"turn_aborted", "turn_complete", "turn_diff", "turn_started", "undo_completed", "warning"}
)
_ERRORS = ("error", "stream_error")


def is_rollout_line(value: Any) -> bool:
    """Say whether a value is a line of a session."""
    return isinstance(value, Mapping) and value.get("type") in _ENVELOPES and "payload" in value


def holds_item(value: Any) -> bool:
    """Say whether a line holds what the model was given or said, in old sessions bare."""
    if is_rollout_line(value):
        return bool(value["type"] == "response_item")
    return is_item(value)


class CodexLines:
    """Reads lines into a conversation.

    With `has_items`, events that tell the same are left out. `usage` is what was used in all;
    `failed` is the last error after which nothing was said.
    """

    def __init__(self, builder: TurnBuilder, *, has_items: bool) -> None:
        self._builder = builder
        self._items = ResponseItems(builder)
        self._has_items = has_items
        self._is_sub_agent = False
        self.head: dict[str, Any] = {}
        self.model: str | None = None
        self.usage = read_usage(None)
        self.failed: str | None = None

    def add(self, line: Any) -> None:
        """Add the next line, or a bare item.

        Raises:
            ValueError: it cannot be kept as JSON.
        """
        line = clean_json(line)
        if not isinstance(line, Mapping) or not isinstance(line.get("payload"), Mapping):
            self._add_bare(line)
            return
        kind, payload = line.get("type"), line["payload"]
        at = read_time(line.get("timestamp"))
        if kind == "response_item":
            self._add_item(payload, at)
        elif kind == "event_msg":
            self._add_event(payload, at)
        elif kind == "session_meta":
            self._add_head(payload, at)
        elif kind == "turn_context":
            self.model = text_or_none(payload.get("model")) or self.model
            self._builder.system(kind, data=payload, at=at)
        elif kind == "compacted":
            text = text_or_none(payload.get("message")) or ""
            self._builder.system(kind, text, payload, at=at)
        else:
            self._builder.keep_unread(_kind(kind), line)

    def _add_bare(self, line: Any) -> None:
        if isinstance(line, Mapping) and "type" in line:
            self._add_item(line, None)
        elif isinstance(line, Mapping) and ("record_type" in line or "instructions" in line):
            self._add_head(line, None)
        else:
            self._builder.keep_unread("line", line)

    def _add_head(self, payload: Mapping[str, Any], at: datetime | None) -> None:
        if self.head:
            # A session that was resumed or forked begins with those before it.
            self._builder.system("session_meta", data=payload, at=at)
            return
        instructions = text_or_none(payload.get("instructions"))
        if instructions:
            self._builder.system("instructions", instructions, at=at)
        self.head = {k: v for k, v in payload.items() if k != "instructions"}
        source = payload.get("source")
        self._is_sub_agent = isinstance(source, Mapping) and any(
            key.lower() == "subagent" for key in source
        )

    def _add_item(self, item: Mapping[str, Any], at: datetime | None) -> None:
        kind = item.get("type")
        if item.get("role") == "user" and kind in (None, "message"):
            self._add_user(item, at)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            self._add_output(item, at)
        elif kind in ("ghost_snapshot", "other"):
            self._builder.system(str(kind), data=item, at=at)
        else:
            if item.get("role") == "assistant" or str(kind).endswith("_call"):
                self.failed = None
            bare = {
                k: v for k, v in item.items() if k != "internal_chat_message_metadata_passthrough"
            }
            self._items.add(bare, at=at)

    def _add_user(self, item: Mapping[str, Any], at: datetime | None) -> None:
        content = item.get("content")
        blocks = content if isinstance(content, list) else [content]
        own = []
        for block in blocks:
            text = block_text(block)
            kind = None if text is None else framework_kind(text)
            if self._is_sub_agent and text is not None:
                kind = kind or AGENT_PROMPT
            if kind is None:
                own.append(block)
            else:
                self._builder.system(kind, text or "", at=at)
        if own:
            self._items.add({**item, "content": own}, at=at)

    def _add_output(self, item: Mapping[str, Any], at: datetime | None) -> None:
        output = item.get("output")
        found = unwrap_output(output) if isinstance(output, str) else None
        if found is None:
            self._items.add(item, at=at)
            return
        self._items.end()
        failed = found.exit_code not in (None, 0)
        more = {"ok": not failed, "structured": dict(found.around), "at": at}
        self._builder.result(read_id(item.get("call_id")), found.text, **more)

    def _add_event(self, event: Mapping[str, Any], at: datetime | None) -> None:
        kind = _kind(event.get("type"))
        if kind == "token_count":
            self._count(event.get("info"))
        elif kind in _ERRORS:
            message = text_or_none(event.get("message")) or "no message"
            self.failed = message
            self._builder.error(kind, message, at=at)
        elif kind in _REPEATED:
            self._add_repeated(kind, event, at)
        elif kind in _NOTES:
            text = text_or_none(event.get("reason")) or text_or_none(event.get("message")) or ""
            self._builder.system(kind, text, event, at=at)
        else:
            self._builder.keep_unread(kind, event)

    def _add_repeated(self, kind: str, event: Mapping[str, Any], at: datetime | None) -> None:
        if self._has_items:
            return
        text = text_or_none(event.get("message")) or text_or_none(event.get("text"))
        if kind == "user_message" and text:
            self._builder.user(text, at=at)
        elif kind == "agent_message" and text:
            self.failed = None
            self._builder.begin_step()
            add_said(self._builder, text, at=at)
        elif kind.startswith("agent_reasoning") and text:
            self._builder.begin_step()
            self._builder.reasoning(text, at=at)
        else:
            self._builder.system(kind, data=event, at=at)

    def _count(self, info: Any) -> None:
        total = info.get("total_token_usage") if isinstance(info, Mapping) else None
        if isinstance(total, Mapping):
            self.usage = read_usage(total)


def _kind(value: Any) -> str:
    return value if isinstance(value, str) and value else "event"
