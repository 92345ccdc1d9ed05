"""Messages of SWE-agent (0.x, 1.x) and mini-swe-agent (1.x, 2.x): they come in, events go out.

- The first message of the user is the task. Whatever follows in the user's place was written by the
  program: outputs of commands, complaints about the form of a reply. It is no turn.
- Calls are those that are recorded as such: `tool_calls`, or commands that the program took out of
  the reply (`action`, `extra.actions`), which become calls of `bash`. Commands that stand in the
  text alone are text.
- Demonstrations (`is_demo`) are shown to the model and did not happen: they are system events.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.messages.assistant_messages import calls_of, part_event, read_call, read_id
from harness.messages.completions import read_usage, text_or_none
from harness.messages.contents import read_content
from harness.messages.foreign_times import read_time
from harness.messages.outputs import read_output
from harness.messages.response_items import ResponseItems, is_own_item, read_response_step
from harness.messages.thinking import add_said
from harness.messages.turn_building import TurnBuilder
from harness.system.json_values import clean_json
from harness.types.trajectories import Step

SHELL = "bash"
"""What a command is called that is recorded apart from any tool."""

OBSERVATION, DEMONSTRATION = "observation", "demonstration"
"""Kinds of the system events for what the program wrote in the user's place, and for examples."""


class SweAgentMessages:
    """Reads messages into a conversation."""

    def __init__(self, builder: TurnBuilder) -> None:
        self._builder = builder
        self._items = ResponseItems(builder)
        self._asked = False
        self._pending = 0

    def add(self, message: Any) -> None:
        """Add the next message.

        Raises:
            ValueError: it cannot be kept as JSON.
        """
        message = clean_json(message)
        if not isinstance(message, Mapping):
            self._builder.keep_unread("message", message)
            return
        role = text_or_none(message.get("role"))
        if role is None and self._add_items(message):
            return
        try:
            self._read(role or "message", message)
        except ValueError:
            self._builder.keep_unread(role or "message", message)

    def _read(self, role: str, message: Mapping[str, Any]) -> None:
        fields = _fields(message)
        if message.get("is_demo"):
            self._builder.system(DEMONSTRATION, _text(message), message, **fields)
        elif role == "user":
            self._add_user(message, fields)
        elif role == "assistant":
            self._add_assistant(message, fields)
        elif role == "tool":
            self._add_result(message, fields)
        elif role in ("system", "exit"):
            self._builder.system(role, _text(message), message.get("extra"), **fields)
        else:
            self._builder.keep_unread(role, message)

    def _add_user(self, message: Mapping[str, Any], fields: dict[str, Any]) -> None:
        if not self._asked:
            content = read_content(message.get("content") or "")
            self._builder.user("\n".join(content.texts), at=fields.get("at"))
            for block in content.others:
                self._builder.add(part_event(block, {}))
            self._asked = True
        elif self._pending:
            self._pending -= 1
            self._add_result(message, fields)
        else:
            self._builder.system(OBSERVATION, _text(message), **fields)

    def _add_assistant(self, message: Mapping[str, Any], fields: dict[str, Any]) -> None:
        content = read_content(message.get("content") or message.get("thought") or "")
        calls = [event for call in calls_of(message) for event in read_call(call, fields)]
        commands = [] if calls else _commands(message)
        self._builder.begin_step(_step(message))
        for thought in _thoughts(message, content.others):
            self._builder.reasoning(thought, **fields)
        if text := "\n".join(content.texts):
            add_said(self._builder, text, **fields)
        for event in calls:
            self._builder.add_to_step(event)
        for command in commands:
            self._builder.call(None, SHELL, {"command": command}, **fields)
        self._pending = len(commands)

    def _add_result(self, message: Mapping[str, Any], fields: dict[str, Any]) -> None:
        ids = message.get("tool_call_ids")
        first = ids[0] if isinstance(ids, list) and ids else None
        call_id = read_id(message.get("tool_call_id")) or read_id(first)
        extra = message.get("extra")
        extra = extra if isinstance(extra, Mapping) else {}
        failed = bool(extra.get("exception_info"))
        output = read_output({"content": message.get("content"), "is_error": failed})
        numbers = {key: extra[key] for key in ("returncode", "exception_info") if extra.get(key)}
        structured = output.structured or numbers or None
        self._builder.result(call_id, output.text, ok=output.ok, structured=structured, **fields)

    def _add_items(self, message: Mapping[str, Any]) -> bool:
        """Add what models of the Responses API say, where the message is that."""
        output = message.get("output")
        if message.get("object") == "response" and isinstance(output, list):
            self._items.begin(read_response_step(message))
            for item in output:
                self._items.add(item)
            self._items.end()
            return True
        if is_own_item(message):
            self._items.add({key: value for key, value in message.items() if key != "extra"})
            return True
        return False


def _fields(message: Mapping[str, Any]) -> dict[str, Any]:
    extra = message.get("extra")
    moment = extra.get("timestamp") if isinstance(extra, Mapping) else None
    found = {"at": read_time(moment or message.get("timestamp"))}
    agent = text_or_none(message.get("agent"))
    # Every message of a single agent is marked with its name, `main` or `primary`.
    return found if agent in (None, "main", "primary") else {**found, "agent": agent}


def _text(message: Mapping[str, Any]) -> str:
    return "\n".join(read_content(message.get("content") or "").texts)


def _commands(message: Mapping[str, Any]) -> Sequence[str]:
    action = message.get("action")
    if isinstance(action, str) and action.strip():
        return [action.strip()]
    extra = message.get("extra")
    actions = extra.get("actions") if isinstance(extra, Mapping) else None
    rows = actions if isinstance(actions, list) else []
    found = [row.get("command") if isinstance(row, Mapping) else row for row in rows]
    return [command for command in found if isinstance(command, str) and command]


def _thoughts(message: Mapping[str, Any], blocks: Iterable[Mapping[str, Any]]) -> Sequence[str]:
    listed = message.get("thinking_blocks")
    rows = [*(listed if isinstance(listed, list) else []), *blocks]
    plain = text_or_none(message.get("reasoning_content"))
    found = [row.get("thinking") for row in rows if isinstance(row, Mapping)]
    thoughts = [thought for thought in found if isinstance(thought, str) and thought]
    return thoughts or ([plain] if plain else [])


def _step(message: Mapping[str, Any]) -> Step:
    extra = message.get("extra")
    extra = extra if isinstance(extra, Mapping) else {}
    response = extra.get("response")
    response = response if isinstance(response, Mapping) else {}
    usage = response.get("usage")
    numbers = usage if isinstance(usage, Mapping) else {}
    return Step(
        usage=read_usage({**numbers, "cost": extra.get("cost")}),
        model=text_or_none(response.get("model")),
    )
