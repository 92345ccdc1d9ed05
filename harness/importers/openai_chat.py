"""Chat Completions messages, as OpenAI's API (v1) takes and gives them.

A record is `{"messages": [...]}` with whatever stands beside, a list of messages, or a recorded
`{"request": {...}, "response": {...}}`, whose conversation is the request's messages and the reply.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.importers.record_fields import (
    ID_ENTRIES,
    MODEL_ENTRIES,
    field_text,
    named_outcomes,
    without,
)
from harness.messages.chat import ROLES, read_turns
from harness.types.imports import ForeignSource, Head, Imported
from harness.types.trajectories import Trajectory


@dataclass(frozen=True, slots=True)
class OpenAIChat:
    """Chat Completions messages: one conversation a record, with `messages`, and `id` beside."""

    specification: ClassVar[str] = "OpenAI Chat Completions API, v1"

    def claims(self, head: Head) -> bool:
        """Say whether the first record holds chat messages."""
        first = head.values[0] if head.values else None
        if isinstance(first, list) and first and not _is_message(first[0]):
            first = first[0]
        return _messages_of(first) is not None

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return a conversation for each record.

        Raises:
            ValueError: a record holds no chat messages.
        """
        for place, value in source.values():
            if isinstance(value, list) and not (value and _is_message(value[0])):
                for index, item in enumerate(value):
                    yield read_chat_record(item, f"{place}[{index}]")
            else:
                yield read_chat_record(value, place)


def read_chat_record(record: Any, place: str) -> Imported:
    """Read one record.

    Raises:
        ValueError: it holds no chat messages; the text begins with the place.
    """
    messages = _messages_of(record)
    if messages is None:
        raise ValueError(f"{place}: the record holds no list of messages")
    try:
        trajectory = Trajectory(turns=read_turns(messages))
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    around = record if isinstance(record, Mapping) else {}
    return Imported(
        place=place,
        trajectory=trajectory,
        sample_id=field_text(around, ID_ENTRIES),
        model=field_text(around, MODEL_ENTRIES),
        outcomes=named_outcomes(around),
        fields=without(around, "messages", "request", "response"),
    )


def _messages_of(record: Any) -> list[Any] | None:
    if isinstance(record, list):
        return record if record and all(map(_is_message, record)) else None
    if not isinstance(record, Mapping):
        return None
    request = record.get("request")
    if isinstance(request, Mapping) and (asked := _messages_of(request)) is not None:
        return [*asked, *_answered(record.get("response"))]
    messages = record.get("messages")
    return _messages_of(messages) if isinstance(messages, list) else None


def _answered(response: Any) -> list[Any]:
    choices = response.get("choices") if isinstance(response, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    return [message] if _is_message(message) else []


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("role") in ROLES
