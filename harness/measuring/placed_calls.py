"""The calls of one turn with their places and results, and where two lists of calls part."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import msgspec

from harness.types.events import Event, ToolCall, ToolResult

CallParting = Literal["other_tool", "other_arguments", "other_order", "no_call", "further_call"]
"""How two lists of calls part; the words of `DivergenceKind`, seen from the candidate."""

_encode = msgspec.json.Encoder(order="sorted").encode


@dataclass(frozen=True, slots=True)
class PlacedCall:
    """A call, the index of its event in the turn, and its result, where it has one.

    Calls of one `key` have one name and equal arguments, in whatever order their keys were sent.
    """

    event: int
    call: ToolCall
    key: tuple[str, bytes]
    result: ToolResult | None = None
    result_event: int | None = None

    @property
    def reply(self) -> tuple[int | None, str | None]:
        """Return which reply of which agent it stands in."""
        return self.call.step, self.call.agent


def placed_calls(events: Iterable[Event]) -> list[PlacedCall]:
    """Return the calls of a turn in their order; a result without an id belongs to the next one.

    Calls of one reply of the model are made at once: their order says nothing, and is that of
    their keys.
    """
    found = list(enumerate(events))
    results: defaultdict[str | None, deque[tuple[int, ToolResult]]] = defaultdict(deque)
    for place, event in found:
        if isinstance(event, ToolResult):
            results[event.call_id].append((place, event))
    calls = [_placed(at, one, results) for at, one in found if isinstance(one, ToolCall)]
    replies = groupby(calls, key=lambda one: one.event if one.call.step is None else one.reply)
    return [one for _, reply in replies for one in sorted(reply, key=lambda each: each.key)]


def _placed(
    place: int, call: ToolCall, results: "defaultdict[str | None, deque[tuple[int, ToolResult]]]"
) -> PlacedCall:
    key = (call.name, _encode(call.arguments))
    waiting = results.get(call.call_id)
    result_event, result = waiting.popleft() if waiting else (None, None)
    return PlacedCall(place, call, key, result, result_event)


def agreeing(baseline: Sequence[PlacedCall], candidate: Sequence[PlacedCall]) -> int:
    """Return how many calls from the beginning agree, name and arguments."""
    pairs = zip(baseline, candidate, strict=False)
    for index, (one, other) in enumerate(pairs):
        if one.key != other.key:
            return index
    return min(len(baseline), len(candidate))


def parting(
    baseline: Sequence[PlacedCall], candidate: Sequence[PlacedCall], agreed: int
) -> CallParting | None:
    """Say how two lists of calls part after so many that agree; None where neither goes on.

    A call that comes later in the other list is the same call: it was moved, or others were left
    out or put in before it.
    """
    if agreed == len(candidate):
        return None if agreed == len(baseline) else "no_call"
    if agreed == len(baseline):
        return "further_call"
    one, other = baseline[agreed], candidate[agreed]
    left = [each[agreed + 1 :] for each in (baseline, candidate)]
    moved = _moved(one.key, other.key, [Counter(c.key for c in calls) for calls in left])
    if moved is not None:
        return moved
    if one.call.name == other.call.name:
        return "other_arguments"
    names = [Counter(c.call.name for c in calls) for calls in left]
    return _moved(one.call.name, other.call.name, names) or "other_tool"


def _moved(one: Any, other: Any, left: "Sequence[Counter[Any]]") -> CallParting | None:
    of_baseline, of_candidate = left
    comes_later, came_later = of_candidate[one] > 0, of_baseline[other] > 0
    if comes_later and came_later:
        return "other_order"
    if comes_later:
        return "further_call"
    return "no_call" if came_later else None


def differing_arguments(baseline: Any, candidate: Any) -> tuple[str, ...]:
    """Return the names of the arguments that differ; none where either is no object."""
    if not isinstance(baseline, dict) or not isinstance(candidate, dict):
        return ()
    names = dict.fromkeys([*baseline, *candidate])
    return tuple(name for name in names if _differs(name, baseline, candidate))


def _differs(name: str, baseline: dict[str, Any], candidate: dict[str, Any]) -> bool:
    if name not in baseline or name not in candidate:
        return True
    return _encode(baseline[name]) != _encode(candidate[name])
