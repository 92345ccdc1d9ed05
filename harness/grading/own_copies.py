"""Copies for a custom function: its changes in place reach neither the record nor others."""

from copy import deepcopy

import msgspec

from harness.types.events import Event, SystemEvent, ToolCall, ToolResult
from harness.types.samples import Sample
from harness.types.trajectories import Trajectory, Turn

_MUTABLE = (dict, list)


def own_sample(sample: Sample) -> Sample:
    """Copy what a function could change in a sample; graders of the sample alone are left out."""
    fields = ("metadata", "extra_vars", "agent_args", "rubric_vars", "history")
    filled = {name: getattr(sample, name) for name in fields}
    copies = {name: deepcopy(value) for name, value in filled.items() if value}
    return msgspec.structs.replace(sample, graders=(), **copies)


def own_trajectory(trajectory: Trajectory) -> Trajectory:
    """Copy what a function could change in a trajectory: its events hold foreign JSON."""
    return Trajectory(turns=tuple(map(_own_turn, trajectory.turns)))


def _own_turn(turn: Turn) -> Turn:
    return Turn(events=tuple(map(_own_event, turn.events)), steps=turn.steps)


def _own_event(event: Event) -> Event:
    if isinstance(event, ToolCall) and isinstance(event.arguments, _MUTABLE):
        return msgspec.structs.replace(event, arguments=deepcopy(event.arguments))
    if isinstance(event, ToolResult) and isinstance(event.structured, _MUTABLE):
        return msgspec.structs.replace(event, structured=deepcopy(event.structured))
    if isinstance(event, SystemEvent) and isinstance(event.data, _MUTABLE):
        return msgspec.structs.replace(event, data=deepcopy(event.data))
    return event
