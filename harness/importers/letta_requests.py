"""Requests to Letta's API beside their blocking replies: the messages of both go out, in order."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from harness.importers.exchange_records import read_exchange
from harness.importers.record_fields import without

_TYPES = {"user": "user_message", "system": "system_message", "assistant": "assistant_message"}


class LettaParts(NamedTuple):
    """What a record holds: what was asked, the reply (or any object with messages), the rest."""

    asked: tuple[Any, ...]
    reply: Mapping[str, Any]
    beside: Mapping[str, Any]


def letta_parts(record: Mapping[str, Any]) -> LettaParts:
    """Part a record into request and reply; a reply repeats no prompt.

    The request is recorded as such (`{"request": ..., "response": ...}`), or the reply stands in
    one object with its `input`. Where the messages hold a prompt themselves, the record has no
    request.
    """
    exchange = read_exchange(record)
    if exchange is not None and _messages(exchange.response):
        asked = exchange.request.get("messages") or exchange.request.get("input")
        return LettaParts(tuple(_prompts(asked)), exchange.response, exchange.beside)
    types = [m.get("message_type") for m in _messages(record) if isinstance(m, Mapping)]
    if any(types) and "user_message" not in types and record.get("input") is not None:
        return LettaParts(tuple(_prompts(record["input"])), record, without(record, "input"))
    return LettaParts((), record, record)


def has_letta_reply(record: Mapping[str, Any]) -> bool:
    """Say whether a record is a recorded request whose response holds messages of Letta."""
    exchange = read_exchange(record)
    messages = _messages(exchange.response) if exchange is not None else []
    return any(isinstance(m, Mapping) and "message_type" in m for m in messages)


def _messages(body: Any) -> list[Any]:
    messages = body.get("messages") if isinstance(body, Mapping) else None
    return messages if isinstance(messages, list) else []


def _prompts(asked: Any) -> Iterator[Any]:
    """Return the messages of a request as the API lists them; a text is what the user says."""
    rows = asked if isinstance(asked, list) else [asked]
    is_content = all(isinstance(row, Mapping) and row.get("type") == "text" for row in rows)
    for row in [{"role": "user", "content": rows}] if rows and is_content else rows:
        fields = row if isinstance(row, Mapping) else {"role": "user", "content": row}
        role = fields.get("role")
        kind = fields.get("message_type") or _TYPES.get(str(role)) or fields.get("type") or role
        yield {**fields, "message_type": str(kind)}
