"""Run states of the OpenAI Agents SDK for Python (schema 1.0 to 1.21), by `RunState.to_json`.

A record is one state: `{"$schemaVersion", "original_input", "generated_items", ...}`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.importers.record_fields import ID_ENTRIES, field_text, named_outcomes, without
from harness.messages.agents_runs import is_agents_state, read_agents_state
from harness.messages.completions import read_usage
from harness.messages.turn_building import TurnBuilder
from harness.types.imports import ForeignSource, Head, Imported
from harness.types.trajectories import Usage

_READ = (
    *("original_input", "generated_items", "session_items"),
    *("model_responses", "last_model_response"),
)


@dataclass(frozen=True, slots=True)
class OpenAIAgents:
    """Run states of the OpenAI Agents SDK: one conversation a state."""

    specification: ClassVar[str] = "OpenAI Agents SDK for Python, run state schema 1.0 to 1.21"

    def claims(self, head: Head) -> bool:
        """Say whether the first record is the state of a run."""
        first = head.values[0] if head.values else None
        return is_agents_state(first[0] if isinstance(first, list) and first else first)

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return a conversation for each state.

        Raises:
            ValueError: a record is no state of a run.
        """
        for place, state in source.records():
            yield _read_state(state, place)


def _read_state(state: Any, place: str) -> Imported:
    if not is_agents_state(state):
        raise ValueError(f"{place}: the record is no run state of the OpenAI Agents SDK")
    builder = TurnBuilder()
    try:
        read_agents_state(state, builder)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    return Imported(
        place=place,
        trajectory=builder.trajectory(),
        sample_id=field_text(state, ID_ENTRIES),
        outcomes=named_outcomes(state),
        fields=without(state, *_READ),
        unread=builder.unread,
        usage=_usage(state),
    )


def _usage(state: Mapping[str, Any]) -> Usage | None:
    """Return what the run used in all, retries included; zeros say that nothing was counted."""
    context = state.get("context")
    counted = context.get("usage") if isinstance(context, Mapping) else None
    usage = read_usage(counted)
    return usage if usage.input_tokens or usage.output_tokens else None
