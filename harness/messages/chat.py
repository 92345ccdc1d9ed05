"""Conversations in the shape of Chat Completions messages: messages <-> turns.

- Each user message begins a turn; what stands before the first one belongs to turn 0.
- `step` counts the assistant's messages inside a turn; a result has the step of the calls it
  follows.
- System and developer messages, and parts that are no text (images, audio, files), become system
  events whose `kind` is the source's word.
- Items of the Responses API that stand between messages (`function_call`, `function_call_output`)
  are read as the call and the result they are. Text is never searched for calls.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from harness.messages.contents import block_kind, kind_of, misshapen, read_content
from harness.messages.outputs import read_output
from harness.messages.pairing import name_results
from harness.messages.replies import REFUSAL, part_event, read_call, read_id, read_reply
from harness.system.json_values import compact_json
from harness.types.events import (
    AssistantMessage,
    Event,
    Reasoning,
    SystemEvent,
    ToolCall,
    ToolResult,
    UserMessage,
)
from harness.types.trajectories import Step, Turn

ROLES = ("user", "assistant", "tool", "system", "developer", "function")
"""The roles a message may have; `function` is the old word for `tool`."""


def read_turns(messages: Iterable[Any]) -> tuple[Turn, ...]:
    """Read a conversation; results are named by the calls they answer.

    A message is a mapping, or an object of an SDK with `model_dump()`.

    Raises:
        ValueError: a message is not of that shape; the text names its index, from 0.
    """
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise misshapen("messages must be a list", messages)
    reader = _TurnReader()
    for index, message in enumerate(messages):
        try:
            reader.add(message)
        except ValueError as error:
            raise ValueError(f"message {index}: {error}") from error
    return name_results(reader.turns())


class _TurnReader:
    """Collects the events of messages, turn by turn."""

    def __init__(self) -> None:
        self._done: list[Turn] = []
        self._events: list[Event] = []
        self._steps: list[Step] = []
        self._asked = False

    def turns(self) -> list[Turn]:
        """Give the turns so far; a conversation without any message has none."""
        return [*self._done, *([self._turn()] if self._events else [])]

    def _turn(self) -> Turn:
        return Turn(events=tuple(self._events), steps=tuple(self._steps))

    def add(self, message: Any) -> None:
        """Take the next message."""
        dump = getattr(message, "model_dump", None)
        message = dump() if callable(dump) else message
        if not isinstance(message, Mapping):
            raise misshapen("must be an object", message)
        self._reader_of(message)(message)

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
            found = f'"{role}"' if isinstance(role, str) else kind_of(role)
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
        events = read_reply(message, step=len(self._steps))
        if events:
            self._events += events
            self._steps.append(Step())

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
        """Give the step of a call that stands alone: that of the calls and texts before it."""
        if not self._steps or isinstance(self._events[-1], ToolResult):
            self._steps.append(Step())
        return len(self._steps) - 1

    def _add_output_item(self, item: Mapping[str, Any]) -> None:
        result = {"content": item.get("output"), "tool_call_id": item.get("call_id")}
        self._add_result({**item, **result})


def write_messages(turns: Iterable[Turn]) -> list[dict[str, Any]]:
    """Write turns as messages; reading them again gives the same events.

    The shape has no place for times, for the JSON behind a result's text, for errors, and for
    system events other than system messages, refusals and parts of a message: these are left out.
    """
    writer = _Writer()
    for turn in turns:
        writer.begin_turn()
        for event in turn.events:
            writer.add(event)
    return writer.messages


class _Writer:
    """Collects messages; the events of one reply are joined into one message."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self._reply: dict[str, Any] | None = None
        self._step: int | None = None

    def begin_turn(self) -> None:
        """Let no reply reach over the end of its turn."""
        self._reply = None

    def add(self, event: Event) -> None:
        """Write one event."""
        if isinstance(event, Reasoning | AssistantMessage | ToolCall):
            self._add_to_reply(event)
        elif isinstance(event, SystemEvent):
            self._add_system(event)
        elif isinstance(event, UserMessage):
            self._put({"role": "user", "content": event.text})
        elif isinstance(event, ToolResult):
            failed = {} if event.ok else {"error": True}
            call = {} if event.call_id is None else {"tool_call_id": event.call_id}
            self._put({"role": "tool", **call, "content": event.output, **failed})

    def _put(self, message: dict[str, Any]) -> None:
        self.messages.append(message)
        self._reply = None

    def _add_to_reply(self, event: Reasoning | AssistantMessage | ToolCall) -> None:
        if isinstance(event, ToolCall):
            self._open_reply(event, "tool_calls").setdefault("tool_calls", []).append(_call(event))
        elif isinstance(event, Reasoning):
            reply = self._open_reply(event, "content", "tool_calls")
            reply["reasoning_content"] = reply.get("reasoning_content", "") + event.text
        else:
            self._open_reply(event, "content", "tool_calls")["content"] = event.text

    def _open_reply(self, event: Event, *closing: str) -> dict[str, Any]:
        """Give the message an event belongs to: a new one where the step says so, or the order.

        Without steps a text, or a thought, that follows a text or a call begins a new message.
        """
        reply, calls = self._reply, isinstance(event, ToolCall)
        same = reply is not None and self._step == event.step
        if (
            reply is None
            or not same
            or (not calls and any(reply.get(k) is not None for k in closing))
        ):
            named = {} if event.agent is None else {"name": event.agent}
            reply = {"role": "assistant", **named, "content": None}
            self._put(reply)
        self._reply, self._step = reply, event.step
        return reply

    def _add_system(self, event: SystemEvent) -> None:
        if event.kind in {"system", "developer"} and event.data is None:
            self._put({"role": event.kind, "content": event.text})
        elif event.kind == REFUSAL and event.data is None:
            self._open_reply(event)["refusal"] = event.text
        elif isinstance(event.data, Mapping) and block_kind(event.data) == event.kind:
            self._add_part(event)

    def _add_part(self, event: SystemEvent) -> None:
        if event.step is not None:
            self._open_reply(event)
        message = self.messages[-1] if self.messages else None
        if message is not None:
            content = message["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            message["content"] = [*(blocks or []), event.data]


def _call(event: ToolCall) -> dict[str, Any]:
    text = event.arguments_text
    arguments = compact_json(event.arguments) if text is None else text
    identity = {} if event.call_id is None else {"id": event.call_id}
    return {
        **identity,
        "type": "function",
        "function": {"name": event.name, "arguments": arguments},
    }
