"""What ends a stream where the suite does not say it: the marks that servers commonly send."""

from collections.abc import Iterator, Mapping
from typing import Any

CLOSE = "close"
"""What `response.done` says of a server whose streams just end."""

_NAMES = frozenset(
    {"close", "complete", "completed", "done", "end", "finish", "finished", "message_end"}
    | {"message_stop", "response.completed", "run_finished", "stop", "stream_end"}
    | {"thread.run.completed", "turn_end", "workflow_finished"}
)
_NAMED = ("type", "event")
_FLAGS = ("done", "finished", "final", "is_done", "is_final", "is_finished")
_REASONS = ("finish_reason", "stop_reason", "done_reason", "finishReason", "stopReason")
_GOES_ON = frozenset({"tool_calls", "tool_use", "function_call", "tool-calls"})
"""Reasons after which an agent goes on with what its tools have given."""

_CARRIERS = ("choices", "candidates", "delta", "message", "response", "data", "result")


def is_end_name(name: str) -> bool:
    """Say whether an event of that name ends a stream."""
    return name.lower() in _NAMES


def marks_end(value: Any) -> bool:
    """Say whether the data of an event says that the stream is over.

    By its type, by a flag, or by the reason why a model has stopped, for which choices, a delta
    and their like are looked at too.
    """
    return any(map(_marks, _carriers(value)))


def _carriers(value: Any) -> Iterator[Mapping[str, Any]]:
    if not isinstance(value, Mapping):
        return
    yield value
    for name in _CARRIERS:
        inner = value.get(name)
        for one in inner if isinstance(inner, list) else [inner]:
            if isinstance(one, Mapping):
                yield one


def _marks(one: Mapping[str, Any]) -> bool:
    named = any(isinstance(kind := one.get(name), str) and is_end_name(kind) for name in _NAMED)
    reasons = (one.get(name) for name in _REASONS)
    stopped = any(isinstance(r, str) and r and r.lower() not in _GOES_ON for r in reasons)
    return named or stopped or any(one.get(flag) is True for flag in _FLAGS)
