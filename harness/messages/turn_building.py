"""A conversation put together event by event: events come in, turns go out, results named."""

from datetime import datetime
from typing import Any

from msgspec.structs import replace

from harness.messages.pairing import name_results
from harness.types.events import (
    AssistantMessage,
    ErrorEvent,
    Event,
    Reasoning,
    SystemEvent,
    ToolCall,
    ToolResult,
    UserMessage,
)
from harness.types.trajectories import Step, Trajectory, Turn

AGENT_PROMPT = "agent_prompt"
"""The kind of the system event that holds what an agent tells its sub-agent."""


class TurnBuilder:
    """Collects the events of one conversation.

    Each message of the user begins a turn; what precedes the first belongs to turn 0. `begin_step`
    says that what follows is a reply of the model; what is added before any has no step. `unread`
    counts what was not understood, by kind.
    """

    def __init__(self) -> None:
        self._done: list[Turn] = []
        self._events: list[Event] = []
        self._steps: list[Step] = []
        self._asked = False
        self.unread: dict[str, int] = {}

    def user(self, text: str, *, at: datetime | None = None) -> None:
        """Add what the user said; it begins a turn."""
        if self._asked:
            self._done.append(self._turn())
            self._events, self._steps = [], []
        self._asked = True
        self._events.append(UserMessage(text=text, at=at))

    def begin_step(self, step: Step | None = None) -> None:
        """Begin a reply of the model."""
        self._steps.append(step or Step())

    def end_step(self, step: Step) -> None:
        """Give the numbers of the reply that was begun last."""
        if self._steps:
            self._steps[-1] = step
        else:
            self._steps.append(step)

    def assistant(self, text: str, **fields: Any) -> None:
        """Add what the agent said to the user."""
        self._events.append(AssistantMessage(text=text, step=self._step, **fields))

    def reasoning(self, text: str, **fields: Any) -> None:
        """Add what the model thought."""
        self._events.append(Reasoning(text=text, step=self._step, **fields))

    def call(self, call_id: str | None, name: str, arguments: Any, **fields: Any) -> None:
        """Add a call; `arguments` is a JSON value, with `arguments_text` as it was sent."""
        call = ToolCall(call_id=call_id, name=name, arguments=arguments, step=self._step, **fields)
        self._events.append(call)

    def result(self, call_id: str | None, output: str, **fields: Any) -> None:
        """Add what a call gave back; its name is found by its id."""
        result = ToolResult(call_id=call_id, name=None, output=output, step=self._step, **fields)
        self._events.append(result)

    def system(self, kind: str, text: str = "", data: Any = None, **fields: Any) -> None:
        """Add what the agent's context did."""
        event = SystemEvent(kind=kind, text=text, data=data, step=self._step, **fields)
        self._events.append(event)

    def error(self, kind: str, message: str, **fields: Any) -> None:
        """Add something that went wrong."""
        self._events.append(ErrorEvent(kind=kind, message=message, step=self._step, **fields))

    def add(self, event: Event) -> None:
        """Add an event as it is."""
        self._events.append(event)

    def add_to_step(self, event: Event) -> None:
        """Add an event of the reply that was begun last."""
        self._events.append(replace(event, step=self._step))

    def keep_unread(self, kind: str, data: Any, **fields: Any) -> None:
        """Keep what was not understood as a system event of its kind, and count it."""
        self.unread[kind] = self.unread.get(kind, 0) + 1
        self.system(kind, data=data, **fields)

    def trajectory(self) -> Trajectory:
        """Return the conversation so far; one without any event has no turn."""
        last = [self._turn()] if self._events else []
        return Trajectory(turns=name_results([*self._done, *last]))

    def _turn(self) -> Turn:
        return Turn(events=tuple(self._events), steps=tuple(self._steps))

    @property
    def _step(self) -> int | None:
        return len(self._steps) - 1 if self._steps else None
