"""The Messages API of Anthropic (2023-06-01, betas included), and sessions of managed agents.

A record is a list of messages, `{"messages": [...]}` with whatever stands beside, a response as the
API gives it, or a recorded request and its response, which may be one object: its `content` is the
reply to its `messages`. A session of managed agents (beta 2026-04-01)
is a file of its events, or of lines `[method, payload]` with what the client sent and received.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.importers.exchange_records import read_exchange
from harness.importers.exchanges import Dialect, Talk, split_talks, talk_record
from harness.importers.managed_sessions import is_method, is_session, read_sessions
from harness.importers.merged_replies import followed_by
from harness.importers.record_fields import (
    ID_ENTRIES,
    MODEL_ENTRIES,
    field_text,
    named_outcomes,
    without,
)
from harness.messages.anthropic_messages import (
    AnthropicMessages,
    is_anthropic_message,
    is_anthropic_reply,
)
from harness.messages.chat import ROLES
from harness.messages.turn_building import TurnBuilder
from harness.types.events import ErrorEvent, SystemEvent
from harness.types.imports import ForeignSource, Head, Imported


@dataclass(frozen=True, slots=True)
class Anthropic:
    """Messages of Anthropic's API: one conversation a record; or sessions of managed agents."""

    specification: ClassVar[str] = "Anthropic Messages API, 2023-06-01; managed agents, 2026-04-01"

    def claims(self, head: Head) -> bool:
        """Say whether the first records hold messages, and any of them what only this API has."""
        items = [item for value in head.values for item in _records(value)]
        if not items:
            return False
        return is_session(head.values) or (
            all(map(_is_readable, items)) and any(map(_is_own, items))
        )

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return a conversation for each record, for requests that go on, or for each session.

        Raises:
            ValueError: a record holds no messages.
        """
        records = source.records(_is_part)
        first = next(records, None)
        if first is None:
            return
        everything = _chain(first, records)
        if is_session([first[1]]):
            yield from read_sessions(everything)
            return
        for found in split_talks(everything, _DIALECT):
            yield _read_talk(found) if isinstance(found, Talk) else _read_record(*found)


def _chain(first: tuple[str, Any], rest: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    yield first
    yield from rest


def _records(value: Any) -> list[Any]:
    """Return the records of a value: a list of messages is one, any other list holds them."""
    if isinstance(value, list) and not any(map(_is_message, value)):
        return value
    return [value]


def _is_part(value: Any) -> bool:
    """Say whether a list with this item is a record: messages, or what a client called."""
    return _is_message(value) or is_method(value)


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("role") in ROLES


def _is_readable(record: Any) -> bool:
    return is_anthropic_reply(record) or _messages_of(record) is not None


def _messages_of(record: Any) -> list[Any] | None:
    if isinstance(record, list):
        return record if any(map(_is_message, record)) else None
    if not isinstance(record, Mapping):
        return None
    exchange = read_exchange(record)
    messages = (exchange.request if exchange else record).get("messages")
    return messages if isinstance(messages, list) else None


def _is_own(record: Any) -> bool:
    if is_anthropic_reply(record) or is_anthropic_message(_merged_reply(record)):
        return True
    exchange = read_exchange(record)
    if exchange is not None:
        path = exchange.url.partition("?")[0].rstrip("/")
        if path.endswith("/v1/messages") or is_anthropic_reply(exchange.response):
            return True
    around = exchange.request if exchange else record
    if isinstance(around, Mapping) and "anthropic_version" in around:
        return True
    return any(map(is_anthropic_message, _messages_of(record) or ()))


def _merged_reply(record: Any) -> dict[str, Any] | None:
    """Return the reply that stands in a record beside the messages it answers, whatever its type.

    The content of a reply is always a list.
    """
    if not isinstance(record, Mapping) or not isinstance(record.get("messages"), list):
        return None
    if not isinstance(record.get("content"), list):
        return None
    return {**without(record, "messages"), "role": "assistant"}


def _reply(response: Any) -> list[Any]:
    return [response] if is_anthropic_reply(response) else []


def _is_reply(message: Any) -> bool:
    return isinstance(message, Mapping) and message.get("role") == "assistant"


_DIALECT = Dialect(key="messages", reply=_reply, is_reply=_is_reply)


def _read_talk(talk: Talk) -> Imported:
    builder = TurnBuilder()
    last = talk.last
    replies = [] if last.refused else _reply(last.response)
    parts = [*talk.history, *replies, *talk.ending()]
    try:
        _add_messages(builder, last.request.get("system"), parts)
        if not replies and not last.refused and last.response is not None:
            builder.keep_unread("response", last.response)
    except ValueError as error:
        raise ValueError(f"{talk.place}: {error}") from error
    return talk_record(talk, builder.trajectory(), builder.unread)


def _add_messages(builder: TurnBuilder, system: Any, parts: Iterable[Any]) -> None:
    reader = AnthropicMessages(builder)
    if system:
        reader.add_system(system)
    for part in parts:
        if isinstance(part, SystemEvent | ErrorEvent):
            builder.add(part)
        else:
            reader.add(part)


def _read_record(place: str, record: Any) -> Imported:
    """Read a record that is no exchange."""
    messages, reply = _messages_of(record), _merged_reply(record)
    if messages is not None and reply is not None:
        messages = followed_by(messages, reply, "content")
    elif messages is None and is_anthropic_reply(record):
        messages = [record]
    if messages is None:
        raise ValueError(f"{place}: the record holds no list of messages")
    around = record if isinstance(record, Mapping) else {}
    builder = TurnBuilder()
    try:
        _add_messages(builder, around.get("system"), messages)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    is_reply = is_anthropic_reply(record)
    has_own_id = is_reply or (reply is not None and around.get("type") == "message")
    was_read = ("content",) if reply is not None or is_reply else ()
    return Imported(
        place=place,
        trajectory=builder.trajectory(),
        # The id of a response names no sample.
        sample_id=field_text(around, ID_ENTRIES[: 1 if has_own_id else None]),
        model=field_text(around, MODEL_ENTRIES),
        outcomes=named_outcomes(around),
        fields=without(around, "messages", "system", *was_read),
        unread=builder.unread,
    )
