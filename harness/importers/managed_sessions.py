"""Sessions of Anthropic's managed agents: the lines of a client's log come in, sessions go out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.messages.completions import text_or_none
from harness.messages.managed_events import ManagedEvents, is_managed_event
from harness.messages.turn_building import TurnBuilder
from harness.types.imports import Imported

_METHODS = "client.beta.sessions."
_CREATE, _SEND = "client.beta.sessions.create", "client.beta.sessions.events.send"


def is_session(values: Sequence[Any]) -> bool:
    """Say whether the first values of a file are of a session: events, or what a client did."""
    first = values[0] if values else None
    if isinstance(first, list) and first and isinstance(first[0], Mapping):
        first = first[0]
    return _method(first).startswith(_METHODS) or _is_event(first)


def _is_event(value: Any) -> bool:
    # An event of another tool may have a type with a dot too.
    known = isinstance(value, Mapping) and ("processed_at" in value or "content" in value)
    return known and is_managed_event(value) and "data" not in value


def is_method(value: Any) -> bool:
    """Say whether a value names what a client did in a session."""
    return isinstance(value, str) and value.startswith(_METHODS)


def _method(value: Any) -> str:
    is_call = isinstance(value, list) and len(value) == 2  # noqa: PLR2004  (method, payload)
    return value[0] if is_call and isinstance(value[0], str) else ""


def read_sessions(values: Iterable[tuple[str, Any]]) -> Iterator[Imported]:
    """Read the sessions of a file; each that is created begins a new one.

    Raises:
        ValueError: a value cannot be kept as JSON; with its place.
    """
    session: _Session | None = None
    for place, value in values:
        method = _method(value)
        if session is None or (method == _CREATE and session.begun):
            if session is not None:
                yield session.imported()
            session = _Session(place)
        try:
            session.add(method, value)
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from error
    if session is not None:
        yield session.imported()


class _Session:
    """Collects one session."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._builder = TurnBuilder()
        self._events = ManagedEvents(self._builder)
        self._created: Mapping[str, Any] = {}
        self.begun = False

    def add(self, method: str, value: Any) -> None:
        """Add what one line holds: a session, an event, or several."""
        self.begun = True
        payload = value[1] if method else value
        if method == _CREATE and isinstance(payload, Mapping):
            self._created = payload
            return
        if method == _SEND and isinstance(payload, list):
            # The session's id comes first.
            payload = payload[-1] if payload else None
        inner = payload.get("events", payload.get("data")) if isinstance(payload, Mapping) else None
        events = payload if isinstance(payload, list) else inner
        for event in events if isinstance(events, list) else [payload]:
            self._events.add(event)

    def imported(self) -> Imported:
        """Return the record of the session."""
        agent = self._created.get("agent")
        model = agent.get("model") if isinstance(agent, Mapping) else None
        name = model.get("id") if isinstance(model, Mapping) else model
        return Imported(
            place=self._place,
            trajectory=self._builder.trajectory(),
            model=text_or_none(name),
            fields=dict(self._created),
            unread=self._builder.unread,
        )
