"""What records of many tools hold beside the conversation: ids, models, outcomes."""

from collections.abc import Iterable, Mapping
from typing import Any

OUTCOMES = ("resolved", "reward", "score", "success", "passed", "exit_status", "exit_code")
"""Fields that say how a conversation came out, in whichever tool's record."""

MODEL_ENTRIES = ("model", "model_name", "model_id")
"""Fields that name the model."""

_MOST_SECONDS = 10**9  # what claims to have taken 30 years has measured nothing

ID_ENTRIES = ("sample_id", "id", "task_id", "instance_id")
"""Fields that name the sample."""


def field_text(record: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """Return the first of the fields that holds a text or a whole number, as text."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None


def field_seconds(record: Mapping[str, Any], *names: str, per_second: int = 1) -> float | None:
    """Return the first of the fields that holds a duration, in seconds; of `per_second` units."""
    for name in names:
        value = record.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if 0 <= value <= _MOST_SECONDS * per_second:
            return value / per_second
    return None


def named_outcomes(record: Mapping[str, Any], names: Iterable[str] = OUTCOMES) -> dict[str, Any]:
    """Return the fields that say how the conversation came out."""
    found = {name: record.get(name) for name in names}
    return {name: value for name, value in found.items() if is_outcome(value)}


def is_outcome(value: Any) -> bool:
    """Say whether a value can be recorded: a number, a truth value or a text."""
    return isinstance(value, bool | int | float | str)


def without(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return a record without what was read as the conversation."""
    return {name: value for name, value in record.items() if name not in names}
