"""Turns of Letta: its messages come in, in order; events with step and name, and turns, go out."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from harness.messages.contents import shape_error
from harness.messages.letta_messages import REPLY_TYPES, letta_type, read_date, read_letta_message
from harness.messages.letta_notices import SYSTEM_REMINDER, split_reminders
from harness.messages.letta_replies import messages_of, read_stop_reason
from harness.messages.letta_steps import LettaSteps
from harness.messages.pairing import name_results
from harness.types.events import Event, SystemEvent, ToolCall, ToolResult, UserMessage
from harness.types.trajectories import Turn


class LettaTurn:
    """Reads the messages of one turn; a fresh one for every prompt of the user.

    It counts the steps over all replies of the turn: an agent that asks for approval answers in
    several. A result has the name of the latest earlier call of this turn with its id.
    """

    def __init__(self) -> None:
        self.steps = LettaSteps()
        self._names: dict[str, str] = {}
        self._pending: dict[str, tuple[ToolCall, int]] = {}
        self._read = 0

    @property
    def pending(self) -> tuple[ToolCall, ...]:
        """Return the calls with an id that have no result yet, in order."""
        return tuple(call for call, _ in self._pending.values())

    def read(self, message: Any) -> tuple[Event, ...]:
        """Read the next whole message; a stop reason and a usage go to the steps.

        A call that an earlier message of the turn made already, and that is still without a result,
        is not a second one: Letta Code tells of a call when it is asked for and when it is made.

        Raises:
            ValueError: it is not of that shape; the text names the type and the place.
        """
        kind = letta_type(message)
        if kind == "usage_statistics":
            self.steps.add_usage(message)
        elif kind == "stop_reason":
            self._stop(message)
        return self._note(read_letta_message(message, step=self._step(kind, message)))

    def read_reply(self, body: Any) -> tuple[Event, ...]:
        """Read a whole blocking reply: its messages, its usage and its stop reason.

        The server 0.16.8 leaves out of it what a model says beside a call; streams and the history
        have that text.

        Raises:
            ValueError: it is not of that shape; the text names the index of the message.
        """
        events: list[Event] = []
        for index, message in enumerate(messages_of(body)):
            try:
                events += self.read(message)
            except ValueError as error:
                raise ValueError(f"message {index}: {error}") from error
        # The reason first: it is that of the steps which the usage then ends.
        self._stop(body)
        if isinstance(body.get("usage"), Mapping):
            self.steps.add_usage(body["usage"])
        return tuple(events)

    def _stop(self, message: Mapping[str, Any]) -> None:
        reason = read_stop_reason(message.get("stop_reason"))
        if reason is not None:
            self.steps.add_stop(reason, message)

    def _step(self, kind: str, message: Mapping[str, Any]) -> int | None:
        if kind in REPLY_TYPES:
            return self.steps.of_reply(message)
        if kind == "tool_return_message":
            return self.steps.of_result(message)
        return self.steps.of_other(message)

    def _note(self, events: tuple[Event, ...]) -> tuple[Event, ...]:
        self._read += 1
        noted = map(self._note_event, events)
        return tuple(event for event in noted if event is not None)

    def _note_event(self, event: Event) -> Event | None:
        if isinstance(event, ToolCall) and event.call_id is not None:
            call, read = self._pending.get(event.call_id, (event, self._read))
            if read < self._read and (call.name, call.arguments) == (event.name, event.arguments):
                return None
            self._names[event.call_id] = event.name
            self._pending[event.call_id] = (event, self._read)
        elif isinstance(event, ToolResult) and event.call_id is not None:
            self._pending.pop(event.call_id, None)
            return replace(event, name=self._names.get(event.call_id))
        return event


def read_letta_turns(
    messages: Iterable[Any], *, reminders: bool = False, ordered: bool = False
) -> tuple[Turn, ...]:
    """Read a conversation from the list of its messages; each user message begins a turn.

    The list may be that of a paging that repeats messages, and the newest may come first, unless it
    is known to be `ordered`; what precedes the first user message belongs to turn 0. With
    `reminders` the blocks that Letta Code puts around the user's text become system events, and a
    user message of nothing else begins no turn.

    Raises:
        ValueError: a message is not of that shape; the text names its index, in order of time.
    """
    turns: list[tuple[list[Event], LettaTurn]] = [([], LettaTurn())]
    asked = False
    for index, message in enumerate(messages if ordered else order_letta_messages(messages)):
        try:
            user = _read_user(message, reminders=reminders)
            begins = any(isinstance(event, UserMessage) for event in user)
            if begins and asked:
                turns.append(([], LettaTurn()))
            asked = asked or begins
            turns[-1][0].extend(user or turns[-1][1].read(message))
        except ValueError as error:
            raise ValueError(f"message {index}: {error}") from error
    made = [Turn(events=tuple(events), steps=turn.steps.all) for events, turn in turns if events]
    return name_results(made)


def _read_user(message: Any, *, reminders: bool) -> tuple[Event, ...]:
    """Return the events of a user message that is no notice; none for any other message."""
    if letta_type(message) != "user_message":
        return ()
    events = read_letta_message(message)
    said = events[0]
    if not isinstance(said, UserMessage):
        return ()
    text, blocks = split_reminders(said.text) if reminders else (said.text, ())
    notes = [SystemEvent(kind=SYSTEM_REMINDER, text=block, at=said.at) for block in blocks]
    rest = [*notes, *events[1:]]
    return tuple(rest) if blocks and not text else (replace(said, text=text), *rest)


def order_letta_messages(messages: Iterable[Any]) -> list[Any]:
    """Return messages without repeats, the oldest first.

    A message is known by id, type and `otid`: the parts of one reply share an id. A list whose
    first message is younger than its last is one with the newest first.
    """
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise shape_error("messages must be a list", messages)
    seen: set[tuple[Any, ...]] = set()
    kept: list[Any] = []
    for message in messages:
        key = _key(message)
        if key is None or key not in seen:
            kept.append(message)
        if key is not None:
            seen.add(key)
    dates = [at for at in map(_date, kept) if at is not None]
    return kept[::-1] if dates and dates[0] > dates[-1] else kept


def _key(message: Any) -> tuple[Any, ...] | None:
    if not isinstance(message, Mapping) or not isinstance(message.get("id"), str):
        return None
    parts = (message["id"], message.get("message_type"), message.get("otid"))
    return parts if all(part is None or isinstance(part, str) for part in parts) else None


def _date(message: Any) -> Any:
    return read_date(message.get("date")) if isinstance(message, Mapping) else None
