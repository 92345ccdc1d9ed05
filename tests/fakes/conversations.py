"""Trajectories in the short notation of `docs/graders.md`: a list of what happened, in order.

    - user: Where is my parcel?              # begins a turn
    - call: {track: {parcel: P-7}}           # one reply of the model; several tools: parallel calls
    - result: in Porto                       # of the earliest call without one
    - result: {output: no such parcel, ok: false}
    - assistant: It is in Porto.             # `cut: true` beside it: the reply never ended
    - system: compaction                     # or {kind, text, data}
    - skill: triage                          # its activation
    - error: the connection was lost

A reply may carry `usage: {input_tokens, output_tokens}` and `seconds`; any item `at`, in seconds.
"""

from collections import deque
from datetime import UTC, datetime, timedelta

from harness.messages.pairing import name_results
from harness.types.events import (
    AssistantMessage,
    ErrorEvent,
    Reasoning,
    SystemEvent,
    ToolCall,
    ToolResult,
    UserMessage,
)
from harness.types.trajectories import Step, Trajectory, Turn, Usage

_START = datetime(2031, 2, 3, 4, 5, 6, tzinfo=UTC)


def read_conversation(items):
    """Make a trajectory of its notation."""
    reader = _Reader()
    for item in items:
        reader.add(dict(item))
    return Trajectory(turns=name_results(reader.turns()))


class _Reader:
    def __init__(self):
        self._turns = [([], [])]
        self._calls = 0
        self._open = deque()
        self._speaking = False

    def turns(self):
        return [Turn(events=tuple(e), steps=tuple(s)) for e, s in self._turns if e or s]

    def add(self, item):
        (kind, value), *more = item.items()
        extra = dict(more)
        at = _START + timedelta(seconds=extra["at"]) if "at" in extra else None
        events, steps = self._turns[-1]
        if kind == "user":
            if events and any(isinstance(event, UserMessage) for event in events):
                self._turns.append(([], []))
                events, steps = self._turns[-1]
            events.append(UserMessage(text=value, at=at))
        elif kind in ("assistant", "reasoning", "call"):
            # A call after what was said belongs to the same reply.
            if not (self._speaking and kind == "call") and not extra.get("cut"):
                usage = Usage(**extra.get("usage", {}))
                steps.append(Step(usage=usage, seconds=extra.get("seconds")))
            step = len(steps) - 1 if steps else None
            events.extend(self._replied(kind, value, {"at": at, "step": step}))
        else:
            events.append(self._happened(kind, value, at))
        self._speaking = kind in ("assistant", "reasoning")

    def _replied(self, kind, value, shared):
        if kind == "assistant":
            return [AssistantMessage(text=value, **shared)]
        if kind == "reasoning":
            return [Reasoning(text=value, **shared)]
        made = []
        for call in value if isinstance(value, list) else [value]:
            for name, arguments in call.items():
                self._calls += 1
                self._open.append(f"c{self._calls}")
                made.append(
                    ToolCall(call_id=self._open[-1], name=name, arguments=arguments or {}, **shared)
                )
        return made

    def _happened(self, kind, value, at):
        fields = value if isinstance(value, dict) else {}
        if kind == "result":
            given = fields or {"output": value}
            call_id = self._open.popleft() if self._open else "no-call"
            return ToolResult(call_id=call_id, name=None, at=at, **given)
        if kind == "system":
            return SystemEvent(at=at, **(fields or {"kind": value}))
        if kind == "skill":
            return SystemEvent(kind="skill_activation", data={"name": value}, at=at)
        if kind == "error":
            return ErrorEvent(kind="error", message=value, at=at)
        raise ValueError(f"no such item: {kind}")
