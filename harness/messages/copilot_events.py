"""Session events of the GitHub Copilot CLI and SDK (1.0): events come in, a conversation goes out.

An event is `{"type": "assistant.message", "data": {...}, "timestamp": ...}`.

- A call stands in the message that asks for it and again when it is executed: it is one.
- Pieces of a message (`..._delta`) count only where the whole message never came.
- What a sub-agent says is a system event `subagent_message`; its calls bear `parent_call_id`.
- A skill is activated by `skill.invoked`: a system event `skill_activation`.
- Any other event is a system event of its type.
"""

from collections.abc import Callable, Mapping
from typing import Any

from harness.messages.arguments import read_arguments
from harness.messages.assistant_messages import read_id
from harness.messages.completions import read_usage, text_or_none
from harness.messages.letta_messages import read_date
from harness.messages.reply_steps import ReplySteps
from harness.messages.thinking import add_said
from harness.messages.turn_building import TurnBuilder
from harness.system.json_values import clean_json, compact_json
from harness.system.texts import scrub
from harness.types.events import SystemEvent
from harness.types.trajectories import Usage

SKILL_ACTIVATION = "skill_activation"
"""The kind of the system event for a skill that was activated."""

_Reader = Callable[[Mapping[str, Any], dict[str, Any]], None]

_FAMILIES = frozenset(
    {
        *("session", "assistant", "tool", "user", "skill", "subagent", "hook", "permission"),
        *("system", "pending_messages", "external_tool", "mcp", "elicitation", "user_input"),
        *("abort", "command", "exit_plan_mode", "result"),
    }
)
_RESULT_FIELDS = frozenset({"content", "contents", "detailedContent", "structuredContent"})
_MESSAGE_DELTA = "assistant.message_delta"
_REASONING_DELTA = "assistant.reasoning_delta"


def is_copilot_event(value: Any) -> bool:
    """Say whether a record is a session event of Copilot."""
    if not isinstance(value, Mapping) or not isinstance(value.get("data"), Mapping):
        return False
    kind = value.get("type")
    return isinstance(kind, str) and "." in kind and kind.partition(".")[0] in _FAMILIES


class CopilotSession:
    """Reads the events of one session; `model` is that which the session names."""

    def __init__(self) -> None:
        self.builder = TurnBuilder()
        self.model: str | None = None
        self._steps = ReplySteps(self.builder)
        self._calls: set[str] = set()
        self._thoughts: set[str] = set()
        self._pieces: dict[tuple[str, str], list[str]] = {}
        self._readers = self._reader_by_type()

    def read(self, event: Any) -> None:
        """Read the next event; one of no known shape is kept as it is."""
        fields = event if isinstance(event, Mapping) else {}
        kind, data = fields.get("type"), fields.get("data")
        if not isinstance(kind, str) or not kind:
            self.builder.keep_unread("event", clean_json(event))
            return
        told = data if isinstance(data, Mapping) else {}
        at = read_date(fields.get("timestamp"))
        shared = {"at": at, "parent_call_id": read_id(told.get("parentToolCallId"))}
        if kind in self._readers:
            self._readers[kind](told, shared)
        else:
            self._keep(scrub(kind), fields, shared)

    def finish(self) -> None:
        """Hear that the log ends; what was said only in pieces is added."""
        for (kind, _), pieces in self._pieces.items():
            text = "".join(pieces)
            if text:
                self._steps.begin()
                if kind == _MESSAGE_DELTA:
                    add_said(self.builder, text)
                else:
                    self.builder.reasoning(text)
        self._pieces.clear()

    def _reader_by_type(self) -> dict[str, _Reader]:
        return {
            "user.message": self._user,
            "assistant.message": self._message,
            "assistant.reasoning": self._reasoning,
            _MESSAGE_DELTA: self._message_piece,
            _REASONING_DELTA: self._reasoning_piece,
            "assistant.turn_start": self._turn_mark("turn_start"),
            "assistant.turn_end": self._turn_mark("turn_end"),
            "assistant.usage": self._usage,
            "tool.execution_start": self._execution,
            "tool.execution_complete": self._result,
            "skill.invoked": self._skill,
            "session.error": self._error,
            "session.start": self._start,
            "session.model_change": self._start,
        }

    def _user(self, data: Mapping[str, Any], shared: dict[str, Any]) -> None:
        self.finish()
        self._steps.end(of_turn=True)
        self.builder.user(_text(data.get("content")), at=shared["at"])
        if data.get("attachments"):
            attached = clean_json(data["attachments"])
            self.builder.system("attachments", data=attached, at=shared["at"])

    def _message(self, data: Mapping[str, Any], shared: dict[str, Any]) -> None:
        self._forget_pieces(_MESSAGE_DELTA, read_id(data.get("messageId")))
        self._begin(shared)
        if data.get("reasoningText"):
            self._think(_text(data["reasoningText"]), shared)
        text = _text(data.get("content"))
        if text and shared["parent_call_id"]:
            self.builder.system("subagent_message", text, **shared)
        elif text:
            add_said(self.builder, text, **shared)
        requests = data.get("toolRequests")
        for request in requests if isinstance(requests, list) else []:
            if isinstance(request, Mapping):
                self._call(request, request.get("name"), shared)
            else:
                self.builder.keep_unread("tool_request", clean_json(request), **shared)

    def _reasoning(self, data: Mapping[str, Any], shared: dict[str, Any]) -> None:
        self._forget_pieces(_REASONING_DELTA, read_id(data.get("reasoningId")))
        self._begin(shared)
        self._think(_text(data.get("content")), shared)

    def _begin(self, shared: Mapping[str, Any]) -> None:
        """Begin a reply of the agent; what a sub-agent does is part of the call."""
        if not shared["parent_call_id"]:
            self._steps.begin()

    def _think(self, text: str, shared: dict[str, Any]) -> None:
        """Add a thought; a message may repeat the one before it."""
        if text not in self._thoughts:
            self.builder.reasoning(text, **shared)
        self._thoughts.add(text)

    def _message_piece(self, data: Mapping[str, Any], _shared: dict[str, Any]) -> None:
        self._keep_piece(_MESSAGE_DELTA, data.get("messageId"), data)

    def _reasoning_piece(self, data: Mapping[str, Any], _shared: dict[str, Any]) -> None:
        self._keep_piece(_REASONING_DELTA, data.get("reasoningId"), data)

    def _keep_piece(self, kind: str, whole: Any, data: Mapping[str, Any]) -> None:
        pieces = self._pieces.setdefault((kind, read_id(whole) or ""), [])
        pieces.append(_text(data.get("deltaContent")))

    def _forget_pieces(self, kind: str, whole: str | None) -> None:
        """Drop the pieces of what has come whole; without ids, all of them."""
        names = [n for k, n in self._pieces if k == kind and (whole is None or n in ("", whole))]
        for name in names:
            del self._pieces[kind, name]

    def _turn_mark(self, kind: str) -> _Reader:
        def mark(data: Mapping[str, Any], shared: dict[str, Any]) -> None:
            self._steps.end()
            self.builder.add(SystemEvent(kind=kind, data=clean_json(data), **shared))

        return mark

    def _usage(self, data: Mapping[str, Any], _shared: dict[str, Any]) -> None:
        model = text_or_none(data.get("model"))
        self.model = self.model or model
        self._steps.use(read_token_usage(data), model)

    def _execution(self, data: Mapping[str, Any], shared: dict[str, Any]) -> None:
        self._call(data, data.get("toolName"), shared)

    def _call(self, data: Mapping[str, Any], name: Any, shared: dict[str, Any]) -> None:
        call_id = read_id(data.get("toolCallId"))
        if call_id is not None and call_id in self._calls:
            return
        if not isinstance(name, str) or not name:
            self.builder.keep_unread("unnamed_call", clean_json(data), **shared)
            return
        if call_id is not None:
            self._calls.add(call_id)
        self._begin(shared)
        arguments = read_arguments(data.get("arguments"))
        sent = {"arguments_text": arguments.text}
        self.builder.call(call_id, scrub(name), arguments.value, **sent, **shared)

    def _result(self, data: Mapping[str, Any], shared: dict[str, Any]) -> None:
        if not shared["parent_call_id"]:
            self._steps.end()
            self._thoughts.clear()
        error = data.get("error")
        ok = data.get("success") is not False and not error
        text, structured = read_tool_output(data.get("result"), error)
        kept = {"ok": ok, "structured": structured}
        self.builder.result(read_id(data.get("toolCallId")), text, **kept, **shared)

    def _skill(self, data: Mapping[str, Any], shared: dict[str, Any]) -> None:
        self.builder.system(SKILL_ACTIVATION, _text(data.get("name")), clean_json(data), **shared)

    def _error(self, data: Mapping[str, Any], shared: dict[str, Any]) -> None:
        kind = text_or_none(data.get("errorType")) or "session.error"
        self.builder.error(scrub(kind), _text(data.get("message")), **shared)

    def _start(self, data: Mapping[str, Any], shared: dict[str, Any]) -> None:
        named = (text_or_none(data.get(name)) for name in ("selectedModel", "newModel"))
        self.model = self.model or next(filter(None, named), None)
        kind = "session.model_change" if "newModel" in data else "session.start"
        self.builder.system(kind, data=clean_json(data), **shared)

    def _keep(self, kind: str, event: Mapping[str, Any], shared: dict[str, Any]) -> None:
        data = event.get("data")
        if data is None:
            data = {k: v for k, v in event.items() if k not in ("type", "timestamp")}
        if kind.partition(".")[0] in _FAMILIES:
            self.builder.system(kind, data=clean_json(data), **shared)
        else:
            self.builder.keep_unread(kind, clean_json(data), **shared)


def read_token_usage(data: Mapping[str, Any]) -> Usage:
    """Read the tokens of a reply; the cost of Copilot is in requests, not in money."""
    counts = {
        "prompt_tokens": data.get("inputTokens"),
        "completion_tokens": data.get("outputTokens"),
    }
    return read_usage(counts)


def read_tool_output(result: Any, error: Any = None) -> tuple[str, Any]:
    """Return the text that the agent saw, and the JSON behind it where that is more.

    Copilot shows its model the `content` of a result, or the `message` of an error.
    """
    told = error if result is None and error else result
    if isinstance(told, str) or told is None:
        return _text(told), None
    if isinstance(told, Mapping):
        shown = told.get("message") if told is error else told.get("content")
        is_shown = told is error or told.keys() <= _RESULT_FIELDS
        if is_shown and isinstance(shown, str):
            return scrub(shown), clean_json(told) if len(told) > 1 else None
    return compact_json(told), clean_json(told)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return scrub(value) if isinstance(value, str) else compact_json(value)
