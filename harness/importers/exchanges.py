"""Recorded requests and responses of a model's API: records come in, conversations go out.

An agent's later requests repeat the conversation, so of several that follow each other only the
last is read; what it left out of an earlier reply is kept apart.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from harness.importers.exchange_records import Exchange, read_exchange
from harness.importers.record_fields import (
    ID_ENTRIES,
    MODEL_ENTRIES,
    field_text,
    named_outcomes,
)
from harness.system.json_values import clean_json
from harness.types.events import ErrorEvent, SystemEvent
from harness.types.imports import Imported
from harness.types.trajectories import Trajectory
from harness.types.trials import Failure

LEFT_OUT = "reply_left_out"
"""The kind of the system event that holds a reply which the next request does not repeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A conversation of several exchanges: `history` is what the last request holds of it.

    `history` holds messages, and events where something is missing among them: an outage, or a
    reply that was left out, which `unread` counts.
    """

    place: str
    history: tuple[Any, ...]
    last: Exchange
    unread: Mapping[str, int] = field(default_factory=dict)

    def ending(self) -> tuple[ErrorEvent, ...]:
        """Return the error in which the conversation ended, if it did."""
        failure = self.last.failure
        return () if failure is None else (_error(failure),)


def _error(failure: Failure) -> ErrorEvent:
    return ErrorEvent(kind=failure.code, message=failure.message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How an API writes exchanges.

    `key` is where a request has its messages; `reply` returns those of a response;
    `is_reply` says of a message of a request whether the agent said it.
    """

    key: str
    reply: Callable[[Any], list[Any]]
    is_reply: Callable[[Any], bool]

    def messages(self, request: Mapping[str, Any]) -> list[Any] | None:
        """Return the messages of a request; a text is what the user says."""
        value = request.get(self.key)
        if isinstance(value, str):
            return [{"role": "user", "content": value}]
        return value if isinstance(value, list) else None


def join_exchanges(records: Iterable[tuple[str, Exchange]], dialect: Dialect) -> Iterator[Talk]:
    """Return the conversations; each goes on as long as requests repeat what was said before.

    One exchange is looked at after another, so that any number of them is a stream.

    Raises:
        ValueError: neither a request nor its response holds messages; with the place.
    """
    talk: Talk | None = None
    for place, exchange in records:
        longer = None if talk is None else _continue(talk, exchange, dialect)
        if longer is None and talk is not None:
            yield talk
        talk = longer or _begin(place, exchange, dialect)
    if talk is not None:
        yield talk


def _begin(place: str, exchange: Exchange, dialect: Dialect) -> Talk:
    messages = dialect.messages(exchange.request)
    if messages is None and not dialect.reply(exchange.response):
        raise ValueError(f"{place}: the request holds no list under `{dialect.key}`")
    return Talk(place=place, history=tuple(messages or ()), last=exchange)


def _continue(talk: Talk, exchange: Exchange, dialect: Dialect) -> Talk | None:
    """Return the conversation with an exchange that goes on with it; None for another one."""
    new = dialect.messages(exchange.request)
    old = dialect.messages(talk.last.request)
    if new is None or old is None:
        return None
    reply = dialect.reply(talk.last.response)
    if _is_chained(talk.last, exchange):
        return _grown(talk, exchange, [*talk.history, *reply, *new])
    failed = talk.last.failure
    begins_alike = _bare(new[: len(old)]) == _bare(old)
    if not begins_alike or (len(new) == len(old) and failed is None):
        return None
    rest = new[len(old) :]
    if failed is not None:
        return _grown(talk, exchange, [*talk.history, _error(failed), *rest])
    if not reply or dialect.is_reply(rest[0]):
        return _grown(talk, exchange, [*talk.history, *rest])
    lost = SystemEvent(kind=LEFT_OUT, data=clean_json(reply))
    unread = {**talk.unread, LEFT_OUT: talk.unread.get(LEFT_OUT, 0) + 1}
    return replace(_grown(talk, exchange, [*talk.history, lost, *rest]), unread=unread)


def _grown(talk: Talk, exchange: Exchange, history: list[Any]) -> Talk:
    return replace(talk, history=tuple(history), last=exchange)


def _is_chained(earlier: Exchange, later: Exchange) -> bool:
    """Say whether a request of the Responses API refers to the response before it."""
    wanted = later.request.get("previous_response_id")
    response = earlier.response
    own = response.get("id") if isinstance(response, Mapping) else None
    return isinstance(wanted, str) and bool(wanted) and wanted == own


def _bare(value: Any) -> Any:
    """Return messages without the marks that an agent moves from request to request."""
    if isinstance(value, Mapping):
        return {key: _bare(inner) for key, inner in value.items() if key != "cache_control"}
    return [_bare(item) for item in value] if isinstance(value, list) else value


def split_talks(
    records: Iterable[tuple[str, Any]], dialect: Dialect
) -> Iterator[Talk | tuple[str, Any]]:
    """Return what a file holds: exchanges as conversations, any other record with its place."""
    for is_exchange, group in groupby(records, key=lambda item: read_exchange(item[1]) is not None):
        if is_exchange:
            yield from join_exchanges(_exchanges(group), dialect)
        else:
            yield from group


def _exchanges(group: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Exchange]]:
    for place, value in group:
        exchange = read_exchange(value)
        if exchange is not None:
            yield place, exchange


def talk_record(talk: Talk, trajectory: Trajectory, unread: Mapping[str, int]) -> Imported:
    """Return the record of a conversation whose parts, and last reply, were read."""
    failure = talk.last.failure
    beside = talk.last.beside
    response = talk.last.response if isinstance(talk.last.response, Mapping) else {}
    model = field_text(response, MODEL_ENTRIES) or field_text(talk.last.request, MODEL_ENTRIES)
    return Imported(
        place=talk.place,
        trajectory=trajectory,
        sample_id=field_text(beside, ID_ENTRIES),
        model=model,
        status="completed" if failure is None else "target_error",
        failure=failure,
        outcomes=named_outcomes(beside),
        fields=dict(beside),
        unread={**unread, **talk.unread},
    )
