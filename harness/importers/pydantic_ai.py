"""Messages of Pydantic AI (0.1 to 2.x), as `all_messages_json()` writes them.

A record is a list of requests and responses, or `{"messages": [...]}` with whatever stands beside;
a `response` beside them is the last one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.importers.record_fields import ID_ENTRIES, field_text, named_outcomes, without
from harness.messages.pydantic_ai_messages import PydanticAIMessages, is_pydantic_ai_messages
from harness.messages.turn_building import TurnBuilder
from harness.types.imports import ForeignSource, Head, Imported


@dataclass(frozen=True, slots=True)
class PydanticAI:
    """Requests and responses of Pydantic AI: one conversation a record."""

    specification: ClassVar[str] = "Pydantic AI messages, 0.1 to 2.x"

    def claims(self, head: Head) -> bool:
        """Say whether the first record holds requests and responses."""
        first = head.values[0] if head.values else None
        if isinstance(first, list) and first and not is_pydantic_ai_messages(first):
            first = first[0]
        return is_pydantic_ai_messages(_messages_of(first))

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return a conversation for each record.

        Raises:
            ValueError: a record holds no messages.
        """
        for place, record in source.records(_is_message):
            yield _read_record(record, place)


def _is_message(value: Any) -> bool:
    return is_pydantic_ai_messages([value])


def _messages_of(record: Any) -> list[Any] | None:
    messages = record.get("messages") if isinstance(record, Mapping) else record
    if not isinstance(messages, list):
        return None
    reply = record.get("response") if isinstance(record, Mapping) else None
    return [*messages, reply] if _is_message(reply) and messages[-1:] != [reply] else messages


def _read_record(record: Any, place: str) -> Imported:
    messages = _messages_of(record)
    if messages is None:
        raise ValueError(f"{place}: the record holds no list of messages")
    around = record if isinstance(record, Mapping) else {}
    builder = TurnBuilder()
    try:
        PydanticAIMessages(builder).add_all(messages)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    trajectory = builder.trajectory()
    served = [step.model for turn in trajectory.turns for step in turn.steps if step.model]
    return Imported(
        place=place,
        trajectory=trajectory,
        sample_id=field_text(around, ID_ENTRIES),
        model=next(iter(served[::-1]), None),
        outcomes=named_outcomes(around),
        fields=without(
            around, "messages", *(["response"] if _is_message(around.get("response")) else [])
        ),
        unread=builder.unread,
    )
