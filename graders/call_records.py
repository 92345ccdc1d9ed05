"""The calls of a trajectory, each with its results and with the model's reply that made it."""

from collections import defaultdict
from typing import NamedTuple

from graders.replies import Reply, reply_calls
from harness.messages.pairing import pair_results
from harness.types.events import ToolCall, ToolResult
from harness.types.grades import Ref
from harness.types.trajectories import Trajectory


class CallRecord(NamedTuple):
    """A call, its place, its results with theirs, and the turn and reply it was made in."""

    ref: Ref
    call: ToolCall
    results: tuple[tuple[Ref, ToolResult], ...]
    reply: tuple[int, Reply]


def call_records(trajectory: Trajectory) -> list[CallRecord]:
    """Return the calls in order; results are paired by id, whatever turn they stand in."""
    results: defaultdict[tuple[int, int], list[tuple[Ref, ToolResult]]] = defaultdict(list)
    for pair in pair_results(trajectory.turns):
        t, e = pair.result
        event = trajectory.turns[t].events[e]
        if isinstance(event, ToolResult):
            results[pair.call].append((Ref(turn=t, event=e), event))
    return [
        CallRecord(Ref(turn=t, event=e), call, tuple(results.get((t, e), ())), (t, reply))
        for t, turn in enumerate(trajectory.turns)
        for e, call, reply in reply_calls(turn)
    ]
