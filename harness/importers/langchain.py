"""LangChain and LangGraph messages (langchain-core 0.1 to 1.x), and runs of LangSmith.

A record is a list of messages, `{"messages": [...]}` with whatever stands beside (a message under
`output` or `response` is the last one), a state of a LangGraph thread (`values`, `channel_values`),
or runs: a file of them, or a trace as `{"post": [...], "patch": [...]}`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

from harness.importers.langsmith_runs import holds_runs, read_traces
from harness.importers.record_fields import (
    ID_ENTRIES,
    MODEL_ENTRIES,
    field_text,
    named_outcomes,
    without,
)
from harness.messages.langchain_messages import LangChainMessages, is_langchain_state
from harness.messages.langchain_shapes import is_langchain_message
from harness.messages.turn_building import TurnBuilder
from harness.types.imports import ForeignSource, Head, Imported

_REPLIES = ("output", "response")
_STATES = ("values", "channel_values", "state")


@dataclass(frozen=True, slots=True)
class LangChain:
    """LangChain's messages, one conversation a record; or LangSmith's runs, one a trace."""

    specification: ClassVar[str] = "langchain-core 0.1 to 1.x messages; LangSmith runs, API v1"

    def claims(self, head: Head) -> bool:
        """Say whether the first record holds messages of LangChain, or runs."""
        first = head.values[0] if head.values else None
        if isinstance(first, list) and first and not is_langchain_state(first):
            first = first[0]
        return holds_runs(first) or is_langchain_state(_messages_of(first))

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return a conversation for each record, or for each trace.

        Raises:
            ValueError: a record holds no messages.
        """
        items = source.records(is_langchain_message)
        first = next(items, None)
        if first is None:
            return
        if holds_runs(first[1]):
            yield from read_traces(chain([first], items))
            return
        for place, record in chain([first], items):
            yield _read_record(record, place)


def _read_record(record: Any, place: str) -> Imported:
    messages = _messages_of(record)
    if messages is None:
        raise ValueError(f"{place}: the record holds no list of messages")
    around = record if isinstance(record, Mapping) else {}
    builder = TurnBuilder()
    try:
        LangChainMessages(builder).add_all(messages)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    trajectory = builder.trajectory()
    served = [step.model for turn in trajectory.turns for step in turn.steps if step.model]
    return Imported(
        place=place,
        trajectory=trajectory,
        sample_id=field_text(around, ID_ENTRIES),
        model=field_text(around, MODEL_ENTRIES) or next(iter(served[::-1]), None),
        outcomes=named_outcomes(around),
        fields=without(around, "messages"),
        unread=builder.unread,
    )


def _messages_of(record: Any) -> list[Any] | None:
    if isinstance(record, list):
        return record if is_langchain_state(record) else None
    if not isinstance(record, Mapping):
        return None
    for holder in (record, *(record.get(key) for key in _STATES)):
        messages = holder.get("messages") if isinstance(holder, Mapping) else None
        if isinstance(holder, Mapping) and isinstance(messages, list):
            replies = [reply for reply in map(holder.get, _REPLIES) if is_langchain_message(reply)]
            return [*messages, *(reply for reply in replies[:1] if messages[-1:] != [reply])]
    return None
