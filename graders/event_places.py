"""The events of a trajectory, each with the ref that points at it."""

from collections.abc import Iterator

from harness.types.events import Event, ToolCall
from harness.types.grades import Ref
from harness.types.trajectories import Trajectory

MOST_REFS = 100
"""How many refs a grade carries: more than anybody looks at."""


def placed_events(trajectory: Trajectory) -> Iterator[tuple[Ref, Event]]:
    """Return every event with its place, in order."""
    for t, turn in enumerate(trajectory.turns):
        for e, event in enumerate(turn.events):
            yield Ref(turn=t, event=e), event


def placed_calls(trajectory: Trajectory) -> Iterator[tuple[Ref, ToolCall]]:
    """Return every call with its place, in order."""
    for t, turn in enumerate(trajectory.turns):
        for e, event in enumerate(turn.events):
            if isinstance(event, ToolCall):
                yield Ref(turn=t, event=e), event
