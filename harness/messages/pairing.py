"""Which call a tool result answers: turns come in, and go out with every result named.

By id over the whole conversation: a result has the name of the latest earlier call with its id.
Only a result without an id is paired by order: with the earliest call of its own turn that has no
result yet. A result that no call fits has no name, even if its message carries one.
"""

from collections import OrderedDict
from collections.abc import Iterable

from msgspec.structs import replace

from harness.types.events import Event, ToolCall, ToolResult
from harness.types.trajectories import Turn


def name_results(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Name every tool result of a conversation, whatever name it came with."""
    names: dict[str, str] = {}
    return tuple(_name_turn(turn, names) for turn in turns)


def _name_turn(turn: Turn, names: dict[str, str]) -> Turn:
    if not any(isinstance(event, ToolCall | ToolResult) for event in turn.events):
        return turn
    calls = _OpenCalls(names)
    return replace(turn, events=tuple(calls.take(event) for event in turn.events))


class _OpenCalls:
    """The calls of one turn that wait for a result, and the names of all calls so far."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names
        self._open: OrderedDict[int, str] = OrderedDict()
        self._latest: dict[str, int] = {}
        self._count = 0

    def take(self, event: Event) -> Event:
        """Give the event back, named if it is a result."""
        if isinstance(event, ToolCall):
            self._add(event)
        elif isinstance(event, ToolResult):
            name = self._name(event.call_id)
            return event if name == event.name else replace(event, name=name)
        return event

    def _add(self, call: ToolCall) -> None:
        if call.call_id is not None:
            self._names[call.call_id] = call.name
            self._latest[call.call_id] = self._count
        self._open[self._count] = call.name
        self._count += 1

    def _name(self, call_id: str | None) -> str | None:
        if call_id is None:
            return self._open.popitem(last=False)[1] if self._open else None
        self._open.pop(self._latest.get(call_id, -1), None)
        return self._names.get(call_id)
