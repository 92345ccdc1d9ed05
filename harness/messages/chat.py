"""Conversations in the shape of Chat Completions messages: messages come in, turns go out.

- Each user message begins a turn; what precedes the first one belongs to turn 0.
- `step` counts the assistant's messages inside a turn; a result has the step of the calls it
  follows. The `usage` of a message is that of its step.
- System and developer messages, and parts other than text (images, audio, files), become system
  events whose `kind` is the source's word.
- Items of the Responses API among the messages (`function_call`, `function_call_output`) are read
  as a call and a result. Text is never searched for calls.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from harness.messages.assistant_messages import (
    part_event,
    read_assistant_message,
    read_call,
    read_id,
)
from harness.messages.completions import read_usage
from harness.messages.contents import read_content, shape_error, type_name
from harness.messages.malformed_parts import without_malformed
from harness.messages.outputs import read_output
from harness.messages.pairing import name_results
from harness.system.json_values import clean_json
from harness.system.texts import scrub
from harness.types.events import ErrorEvent, Event, SystemEvent, ToolResult, UserMessage
from harness.types.trajectories import Step, Turn

ROLES = ("user", "assistant", "tool", "system", "developer", "function")
"""The roles a message may have; `function` is the former name of `tool`."""


def read_turns(
    messages: Iterable[Any], *, unread: dict[str, int] | None = None
) -> tuple[Turn, ...]:
    """Read a conversation; results are named by the calls they answer.

    A message is a mapping, or an object of an SDK with `model_dump()`; a system event or an error
    among them is kept where it stands. With `unread`, a malformed call or content block is kept
    as a system event and counted there, by kind, and the rest of its message is read; any other
    message that is not of this shape is kept whole, as an event of its role.

    Raises:
        ValueError: a message is not of that shape; the text names its index, from 0.
    """
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise shape_error("messages must be a list", messages)
    reader = _TurnReader()
    for index, message in enumerate(messages):
        try:
            reader.add(message)
        except ValueError as error:
            if unread is None:
                raise ValueError(f"message {index}: {error}") from error
            for kind in reader.keep(message):
                unread[kind] = unread.get(kind, 0) + 1
    return name_results(reader.turns())


class _TurnReader:
    """Collects the events of messages, turn by turn."""

    def __init__(self) -> None:
        self._done: list[Turn] = []
        self._events: list[Event] = []
        self._steps: list[Step] = []
        self._asked = False

    def turns(self) -> list[Turn]:
        """Return the turns so far; a conversation without any message has none."""
        return [*self._done, *([self._turn()] if self._events else [])]

    def _turn(self) -> Turn:
        return Turn(events=tuple(self._events), steps=tuple(self._steps))

    def add(self, message: Any) -> None:
        """Read the next message."""
        if isinstance(message, SystemEvent | ErrorEvent):
            self._events.append(message)
            return
        dump = getattr(message, "model_dump", None)
        message = dump() if callable(dump) else message
        if not isinstance(message, Mapping):
            raise shape_error("must be an object", message)
        self._reader_of(message)(message)

    def keep(self, message: Any) -> list[str]:
        """Keep what of a message is not of this shape; return the kinds of the events."""
        if isinstance(message, Mapping):
            kept, malformed = without_malformed(message)
            with suppress(ValueError):
                if malformed:
                    self.add(kept)
                    return [self._keep(kind, part) for kind, part in malformed]
        role = message.get("role", message.get("type")) if isinstance(message, Mapping) else None
        kind = scrub(role) if isinstance(role, str) and role else "message"
        return [self._keep(kind, message)]

    def _keep(self, kind: str, part: Any) -> str:
        self._events.append(SystemEvent(kind=kind, data=clean_json(part)))
        return kind

    def _reader_of(self, message: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], None]:
        role = message.get("role", message.get("type"))
        readers: dict[Any, Callable[[Mapping[str, Any]], None]] = {
            "user": self._add_user,
            "assistant": self._add_assistant,
            "tool": self._add_result,
            "function": self._add_result,
            "system": self._add_system,
            "developer": self._add_system,
            "function_call": self._add_call_item,
            "function_call_output": self._add_output_item,
        }
        reader = readers.get(role) if isinstance(role, str) else None
        if reader is None or (role in ROLES and "role" not in message):
            found = f'"{role}"' if isinstance(role, str) else type_name(role)
            raise ValueError(f"role must be one of {', '.join(ROLES)}, got {found}")
        return reader

    def _add_user(self, message: Mapping[str, Any]) -> None:
        content = read_content(message.get("content"))
        if self._asked:
            self._done.append(self._turn())
            self._events, self._steps = [], []
        self._asked = True
        self._events.append(UserMessage(text="\n".join(content.texts)))
        self._events += [part_event(block, {}) for block in content.others]

    def _add_assistant(self, message: Mapping[str, Any]) -> None:
        events = read_assistant_message(message, step=len(self._steps))
        if events:
            self._events += events
            self._steps.append(Step(usage=read_usage(message.get("usage"))))

    def _add_result(self, message: Mapping[str, Any]) -> None:
        output = read_output(message)
        self._events.append(
            ToolResult(
                call_id=read_id(message.get("tool_call_id")),
                name=None,
                output=output.text,
                ok=output.ok,
                structured=output.structured,
                step=self._last_step(),
            )
        )

    def _last_step(self) -> int | None:
        return len(self._steps) - 1 if self._steps else None

    def _add_system(self, message: Mapping[str, Any]) -> None:
        content = read_content(message.get("content"))
        text = "\n".join(content.texts)
        self._events.append(SystemEvent(kind=message["role"], text=text))
        self._events += [part_event(block, {}) for block in content.others]

    def _add_call_item(self, item: Mapping[str, Any]) -> None:
        self._events += read_call({**item, "id": None}, {"step": self._open_step()})

    def _open_step(self) -> int:
        """Return the step of a call outside a message: that of the calls and texts before it."""
        if not self._steps or isinstance(self._events[-1], ToolResult):
            self._steps.append(Step())
        return len(self._steps) - 1

    def _add_output_item(self, item: Mapping[str, Any]) -> None:
        result = {"content": item.get("output"), "tool_call_id": item.get("call_id")}
        self._add_result({**item, **result})
