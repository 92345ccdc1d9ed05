"""The Responses API of OpenAI (v1): items of `input` and `output`.

A record is a list of items, `{"input": ..., "output": [...]}`, `{"items": [...]}`, a response as
the API gives it, or a recorded request and its response. Of a response that refers to the one
before it (`previous_response_id`) the conversation is both.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.importers.exchange_records import read_exchange
from harness.importers.exchanges import (
    Dialect,
    Talk,
    split_talks,
    talk_record,
)
from harness.importers.record_fields import (
    ID_ENTRIES,
    MODEL_ENTRIES,
    field_text,
    named_outcomes,
    without,
)
from harness.messages.response_items import ResponseItems, add_response, is_item, is_own_item
from harness.messages.turn_building import TurnBuilder
from harness.types.events import ErrorEvent, SystemEvent
from harness.types.imports import ForeignSource, Head, Imported
from harness.types.trials import Failure

_LISTS = ("input", "items", "messages")


@dataclass(frozen=True, slots=True)
class OpenAIResponses:
    """Items of the Responses API: one conversation a record."""

    specification: ClassVar[str] = "OpenAI Responses API, v1"

    def claims(self, head: Head) -> bool:
        """Say whether the first record holds items that only this API has."""
        return bool(head.values) and _is_own(head.values[0])

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return a conversation for each record, or for requests that go on with each other.

        Raises:
            ValueError: a record holds no items.
        """
        for found in split_talks(source.records(is_item), _DIALECT):
            yield _read_talk(found) if isinstance(found, Talk) else _read_record(*found)


def _is_own(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(is_own_item, value)) or (bool(value) and _is_own_exchange(value[0]))
    if not isinstance(value, Mapping):
        return False
    if value.get("object") == "response" and isinstance(value.get("output"), list):
        return True
    lists = [value.get(key) for key in (*_LISTS, "output")]
    return _is_own_exchange(value) or any(
        any(map(is_own_item, items)) for items in lists if isinstance(items, list)
    )


def _is_own_exchange(value: Any) -> bool:
    exchange = read_exchange(value)
    if exchange is None or "input" not in exchange.request:
        return False
    response = exchange.response
    path = exchange.url.partition("?")[0].rstrip("/")
    named = isinstance(response, Mapping) and response.get("object") == "response"
    items = exchange.request["input"]
    return named or path.endswith("/responses") or (isinstance(items, list) and _is_own(items))


def _output(response: Any) -> list[Any]:
    output = response.get("output") if isinstance(response, Mapping) else None
    return output if isinstance(output, list) else []


def _is_reply(item: Any) -> bool:
    if not isinstance(item, Mapping):
        return False
    kind = str(item.get("type"))
    return item.get("role") == "assistant" or (is_own_item(item) and not kind.endswith("_output"))


_DIALECT = Dialect(key="input", reply=_output, is_reply=_is_reply)


def _read_talk(talk: Talk) -> Imported:
    builder = TurnBuilder()
    reader = ResponseItems(builder)
    try:
        _add_instructions(builder, talk.last.request.get("instructions"))
        for item in talk.history:
            if isinstance(item, SystemEvent | ErrorEvent):
                builder.add(item)
            else:
                reader.add(item)
        if not talk.last.refused:
            _add_reply(talk.last.response, reader, builder)
        for event in talk.ending():
            builder.add(event)
    except ValueError as error:
        raise ValueError(f"{talk.place}: {error}") from error
    return talk_record(talk, builder.trajectory(), builder.unread)


def _add_instructions(builder: TurnBuilder, instructions: Any) -> None:
    if isinstance(instructions, str) and instructions:
        builder.system("instructions", instructions)
    elif isinstance(instructions, list):
        builder.system("instructions", data=instructions)


def _add_reply(response: Any, reader: ResponseItems, builder: TurnBuilder) -> None:
    if isinstance(response, Mapping):
        add_response(reader, builder, response)
    elif response is not None:
        builder.keep_unread("response", response)


def _read_record(place: str, record: Any) -> Imported:
    """Read a record that is no exchange."""
    items, response = _parts(record)
    if items is None and response is None:
        raise ValueError(f"{place}: the record holds no items of the Responses API")
    around = record if isinstance(record, Mapping) else {}
    builder = TurnBuilder()
    reader = ResponseItems(builder)
    try:
        _add_instructions(builder, around.get("instructions"))
        for item in items or ():
            reader.add(item)
        if response is not None:
            add_response(reader, builder, response)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    failure = _failure(around)
    if failure is not None:
        builder.error(failure.code, failure.message)
    is_response = around.get("object") == "response"
    return Imported(
        place=place,
        trajectory=builder.trajectory(),
        # The id of a response names no sample.
        sample_id=field_text(around, ID_ENTRIES[:1] if is_response else ID_ENTRIES),
        model=field_text(around, MODEL_ENTRIES),
        status="completed" if failure is None else "target_error",
        failure=failure,
        outcomes=named_outcomes(around),
        fields=without(around, "instructions", "output", *_LISTS),
        unread=builder.unread,
    )


def _parts(record: Any) -> tuple[list[Any] | None, Mapping[str, Any] | None]:
    """Return the items that were given, and the response that has those that came back."""
    if isinstance(record, list):
        return record, None
    if not isinstance(record, Mapping):
        return None, None
    asked = next((record[key] for key in _LISTS if isinstance(record.get(key), list | str)), None)
    items = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
    return items, record if isinstance(record.get("output"), list) else None


def _failure(record: Mapping[str, Any]) -> Failure | None:
    error = record.get("error")
    if record.get("object") != "response" or not isinstance(error, Mapping):
        return None
    message = str(error.get("message") or error.get("code") or "no message")
    return Failure(code="server_error", message=message)
