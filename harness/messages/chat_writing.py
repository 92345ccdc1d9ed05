"""Conversations written as Chat Completions messages: a trajectory comes in, messages go out.

What an agent does in one reply becomes one message, as far as its order allows: reasoning, text,
other parts, calls. Reasoning is written as `reasoning_content`, a failed result bears `is_error`.
What messages have no form for (errors, what the agent's context did) is left out, and counted.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from harness.messages.assistant_messages import DUPLICATE_KEYS, MODEL_REFUSAL
from harness.messages.contents import block_kind
from harness.messages.event_texts import sent_arguments
from harness.types.events import (
    AssistantMessage,
    Event,
    Reasoning,
    SystemEvent,
    ToolCall,
    ToolResult,
    UserMessage,
)
from harness.types.trajectories import Trajectory

UNASKED_TURN = "turn_without_user"
"""What is counted for a later turn that no user began: messages have nothing that begins it."""

_SYSTEM_ROLES = ("system", "developer")
_REASONING, _TEXT, _PART, _CALL = range(4)
"""The order in which a message is read, so that what is written is what is read."""


@dataclass(frozen=True, slots=True)
class Written:
    """A conversation as messages; `left_out` counts the events that have no form there, by kind."""

    messages: tuple[dict[str, Any], ...]
    left_out: dict[str, int]


def write_messages(trajectory: Trajectory) -> Written:
    """Write a conversation as Chat Completions messages."""
    writer = _Writer()
    for index, turn in enumerate(trajectory.turns):
        if index and not any(isinstance(event, UserMessage) for event in turn.events):
            writer.left_out[UNASKED_TURN] += 1
        for event in turn.events:
            writer.add(event)
        writer.end_message()
    return Written(tuple(writer.messages), dict(writer.left_out))


@dataclass(slots=True)
class _Reply:
    """A message of the assistant while its events come."""

    step: int | None
    agent: str | None
    rank: int = _REASONING
    reasoning: list[str] = field(default_factory=list)
    text: str | None = None
    refusal: str | None = None
    parts: list[Any] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)

    def takes(self, event: Event, rank: int) -> bool:
        """Say whether an event can follow in the same message."""
        same = (event.step, event.agent) == (self.step, self.agent)
        again = rank == _TEXT and self.text is not None
        return same and rank >= self.rank and not again

    def message(self) -> dict[str, Any]:
        """Return the whole."""
        message: dict[str, Any] = {"role": "assistant", "content": self._content()}
        if self.agent:
            message["name"] = self.agent
        if self.reasoning:
            message["reasoning_content"] = self.reasoning[0]
        if self.refusal is not None:
            message["refusal"] = self.refusal
        if self.calls:
            message["tool_calls"] = self.calls
        return message

    def _content(self) -> Any:
        blocks = [{"type": "thinking", "thinking": text} for text in self.reasoning[1:]]
        if not blocks and not self.parts:
            return self.text
        text = [] if self.text is None else [{"type": "text", "text": self.text}]
        return [*blocks, *text, *self.parts]


class _Writer:
    """Writes the events of a conversation one after another."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.left_out: Counter[str] = Counter()
        self._reply: _Reply | None = None

    def add(self, event: Event) -> None:
        """Write an event."""
        rank = _rank(event)
        if rank is not None:
            self._add_to_reply(event, rank)
            return
        message = _message(event)
        if message is not None:
            self.end_message()
            self.messages.append(message)
        elif isinstance(event, SystemEvent) and _is_part(event) and self._follows_user():
            self._add_to_user(event)
        elif not (isinstance(event, SystemEvent) and event.kind == DUPLICATE_KEYS):
            # Duplicate keys are told again by whoever reads the arguments.
            self.left_out[getattr(event, "kind", "error")] += 1

    def end_message(self) -> None:
        """Write what the assistant has said so far."""
        if self._reply is not None:
            self.messages.append(self._reply.message())
            self._reply = None

    def _add_to_reply(self, event: Event, rank: int) -> None:
        if self._reply is None or not self._reply.takes(event, rank):
            self.end_message()
            self._reply = _Reply(step=event.step, agent=event.agent)
        reply, self._reply.rank = self._reply, rank
        if isinstance(event, Reasoning):
            reply.reasoning.append(event.text)
        elif isinstance(event, AssistantMessage):
            reply.text = event.text
        elif isinstance(event, ToolCall):
            reply.calls.append(_call(event))
        elif isinstance(event, SystemEvent) and event.kind == MODEL_REFUSAL and event.data is None:
            reply.refusal = event.text
        elif isinstance(event, SystemEvent):
            reply.parts.append(event.data)

    def _follows_user(self) -> bool:
        last = self.messages[-1] if self.messages and self._reply is None else {}
        return last.get("role") == "user"

    def _add_to_user(self, event: SystemEvent) -> None:
        message = self.messages[-1]
        content = message["content"]
        text = [{"type": "text", "text": content}] if isinstance(content, str) else content
        # A user who only shows something has said nothing.
        message["content"] = [*(text if content else []), event.data]


def _rank(event: Event) -> int | None:
    """Return where in the assistant's message an event stands; None where it is none of its."""
    if isinstance(event, SystemEvent):
        is_refusal = event.kind == MODEL_REFUSAL and event.data is None
        of_assistant = event.step is not None and (is_refusal or _is_part(event))
        return _PART if of_assistant else None
    ranks = {Reasoning: _REASONING, AssistantMessage: _TEXT, ToolCall: _CALL}
    return ranks.get(type(event))


def _is_part(event: SystemEvent) -> bool:
    """Say whether an event was a part of a message, such as an image."""
    return isinstance(event.data, dict) and block_kind(event.data) == event.kind


def _message(event: Event) -> dict[str, Any] | None:
    if isinstance(event, UserMessage):
        return {"role": "user", "content": event.text}
    if isinstance(event, SystemEvent) and event.kind in _SYSTEM_ROLES and event.data is None:
        return {"role": event.kind, "content": event.text}
    if isinstance(event, ToolResult):
        return dict(_result(event))
    return None


def _result(event: ToolResult) -> Iterator[tuple[str, Any]]:
    yield "role", "tool"
    if event.call_id is not None:
        yield "tool_call_id", event.call_id
    if event.name is not None:
        yield "name", event.name
    yield "content", event.output
    if not event.ok:
        yield "is_error", True


def _call(event: ToolCall) -> dict[str, Any]:
    function = {"name": event.name, "arguments": sent_arguments(event)}
    call = {"type": "function", "function": function}
    return call if event.call_id is None else {"id": event.call_id, **call}
