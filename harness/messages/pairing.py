"""Which call a tool result answers: turns come in, and go out with every result named.

By id over the whole conversation: a result has the name of the latest earlier call with its id.
Only a result without an id is paired by order: with the earliest call of its own turn that has no
result yet. A result without a matching call has no name, even if its message carries one.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from harness.types.events import Event, ToolCall, ToolResult
from harness.types.trajectories import Turn

Place = tuple[int, int]
"""The index of a turn, and of an event in it."""


class Pair(NamedTuple):
    """The place of a call, the place of its result, and the name of the tool."""

    call: Place
    result: Place
    name: str


class CallsSoFar:
    """The calls of a conversation while it goes on: says which of them a result answers."""

    def __init__(self) -> None:
        self._latest: dict[str, tuple[Place, str]] = {}
        self._unanswered: OrderedDict[Place, str] = OrderedDict()

    def begin_turn(self) -> None:
        """Begin a turn: what has no id answers calls of its own turn only."""
        self._unanswered.clear()

    def add(self, event: Event, place: Place) -> Pair | None:
        """Take the next event, at its place; return the pair that a result makes."""
        if isinstance(event, ToolCall):
            self._unanswered[place] = event.name
            if event.call_id is not None:
                self._latest[event.call_id] = (place, event.name)
        elif isinstance(event, ToolResult):
            if event.call_id is None:
                call = next(iter(self._unanswered.items()), None)
            else:
                call = self._latest.get(event.call_id)
            if call is not None:
                self._unanswered.pop(call[0], None)
                return Pair(call[0], place, call[1])
        return None


def pair_results(turns: Iterable[Turn]) -> Iterator[Pair]:
    """Pair every tool result with its call, in the order of the results."""
    calls = CallsSoFar()
    for t, turn in enumerate(turns):
        calls.begin_turn()
        for e, event in enumerate(turn.events):
            if (pair := calls.add(event, (t, e))) is not None:
                yield pair


def name_results(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Name every tool result of a conversation, whatever name it came with."""
    turns = tuple(turns)
    names = {pair.result: pair.name for pair in pair_results(turns)}
    return tuple(_with_names(t, turn, names) for t, turn in enumerate(turns))


def _with_names(t: int, turn: Turn, names: Mapping[Place, str]) -> Turn:
    if not any(isinstance(event, ToolResult) for event in turn.events):
        return turn
    named = (_with_name(event, names.get((t, e))) for e, event in enumerate(turn.events))
    return replace(turn, events=tuple(named))


def _with_name(event: Event, name: str | None) -> Event:
    if isinstance(event, ToolResult) and event.name != name:
        return replace(event, name=name)
    return event
