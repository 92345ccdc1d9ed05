"""Events of Anthropic's managed agents (beta 2026-04-01): they come in, events of ours go out.

What the client sends comes back in the stream, with an id: it counts once, where it was sent.
"""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from harness.messages.anthropic_messages import AnthropicMessages, read_anthropic_output
from harness.messages.assistant_messages import read_id
from harness.messages.completions import read_usage, text_or_none
from harness.messages.letta_messages import read_date
from harness.messages.turn_building import TurnBuilder
from harness.system.json_values import clean_json, compact_json
from harness.types.trajectories import Step

_SAID = ("user.message", "agent.message")
_CALL_IDS = ("tool_use_id", "custom_tool_use_id", "mcp_tool_use_id")
_WHAT = ("type", "content", *_CALL_IDS)
_NOTES = ("session.", "span.", "agent.thread", "user.interrupt", "user.tool_confirmation")
_FAILED = "session.error"


def is_managed_event(value: Any) -> bool:
    """Say whether a value is an event of a session."""
    kind = value.get("type") if isinstance(value, Mapping) else None
    return isinstance(kind, str) and kind.startswith(("user.", "agent.", "session.", "span."))


class ManagedEvents:
    """Reads the events of one session into a conversation."""

    def __init__(self, builder: TurnBuilder) -> None:
        self._builder = builder
        self._messages = AnthropicMessages(builder)
        self._seen: set[str] = set()
        self._sent: Counter[str] = Counter()
        self._asked = False

    def add(self, event: Any) -> None:
        """Add the next event, sent or streamed.

        Raises:
            ValueError: it cannot be kept as JSON.
        """
        event = clean_json(event)
        if not is_managed_event(event):
            self._builder.keep_unread("event", event)
        elif not self._is_repeated(event):
            self._read(event["type"], event)

    def _is_repeated(self, event: Mapping[str, Any]) -> bool:
        own = event.get("id")
        # The order of keys differs between what was sent and what came back.
        what = json.dumps({key: event.get(key) for key in _WHAT}, sort_keys=True)
        if not isinstance(own, str):
            self._sent[what] += 1
            return False
        is_echo = self._sent[what] > 0
        self._sent[what] -= is_echo
        is_second = own in self._seen
        self._seen.add(own)
        return is_echo or is_second

    def _read(self, kind: str, event: Mapping[str, Any]) -> None:
        at = {"at": found} if (found := read_date(event.get("processed_at"))) else {}
        if kind in _SAID:
            self._add_message(kind, event, at)
        elif kind.endswith("tool_use") and isinstance(event.get("name"), str):
            self._begin_step()
            arguments = event.get("input")
            arguments = {} if arguments is None else arguments
            self._builder.call(read_id(event.get("id")), event["name"], arguments, **at)
        elif kind.endswith("tool_result"):
            self._add_result(event, at)
        elif kind == "span.model_request_end":
            self._begin_step()
            self._builder.end_step(Step(usage=read_usage(event.get("model_usage"))))
            self._asked = False
        else:
            self._add_note(kind, event, at)

    def _begin_step(self) -> None:
        # Without spans, what the agent says or does after another is a step of its own.
        if not self._asked:
            self._builder.begin_step()
            self._asked = True

    def _add_message(self, kind: str, event: Mapping[str, Any], at: dict[str, Any]) -> None:
        content = event.get("content")
        blocks = [content] if isinstance(content, str) else content
        if not isinstance(blocks, list):
            self._builder.keep_unread(kind, event, **at)
        elif kind == "agent.message":
            self._begin_step()
            self._messages.add_blocks(blocks, **at)
        else:
            self._asked = False
            self._messages.add({"role": "user", "content": blocks}, **at)

    def _add_result(self, event: Mapping[str, Any], at: dict[str, Any]) -> None:
        output = read_anthropic_output(event)
        call_id = next((found for key in _CALL_IDS if (found := read_id(event.get(key)))), None)
        more = {"ok": output.ok, "structured": output.structured, **at}
        self._builder.result(call_id, output.text, **more)

    def _add_note(self, kind: str, event: Mapping[str, Any], at: dict[str, Any]) -> None:
        if kind == "span.model_request_start":
            self._builder.begin_step()
            self._asked = True
        elif kind == _FAILED:
            error = event.get("error")
            message = error.get("message") if isinstance(error, Mapping) else error
            self._builder.error(kind, text_or_none(message) or compact_json(error), **at)
        elif kind == "agent.thinking":
            self._begin_step()
            text = text_or_none(event.get("thinking")) or text_or_none(event.get("text"))
            if text:
                self._builder.reasoning(text, **at)
            else:
                self._builder.system(kind, data=event, **at)
        elif kind.startswith(_NOTES):
            self._builder.system(kind, data=event, **at)
        else:
            self._builder.keep_unread(kind, event, **at)
