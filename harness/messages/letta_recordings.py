"""What was received from Letta's API and kept: messages or records of streams in, turns out.

A recorded stream of tokens holds a message in pieces, which are joined here; a list of messages, or
a stream by steps, holds them whole.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from harness.messages.letta_chunks import LettaChunks
from harness.messages.letta_messages import letta_type, read_letta_message
from harness.messages.letta_turns import LettaTurn, read_letta_turns
from harness.messages.letta_voices import with_sent_messages
from harness.messages.pairing import name_results
from harness.types.events import Event, UserMessage
from harness.types.trajectories import Turn


def read_recorded_turns(messages: Sequence[Any]) -> tuple[Turn, ...]:
    """Read a conversation; each user message begins a turn.

    Raises:
        ValueError: a message is not of that shape; the text names its index.
    """
    if _is_in_pieces(messages):
        return with_sent_messages(_read_pieces(messages))
    return with_sent_messages(read_letta_turns(messages, reminders=True))


def _is_in_pieces(messages: Iterable[Any]) -> bool:
    """Say whether one message comes in several records that differ."""
    seen: dict[tuple[str, ...], Any] = {}
    for message in messages:
        fields = message if isinstance(message, dict) else {}
        named = (fields.get(name) for name in ("id", "message_type", "otid"))
        key = tuple(name for name in named if isinstance(name, str))
        if key and _bare(seen.setdefault(key, fields)) != _bare(fields):
            return True
    return False


def _bare(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message without what differs between a stream and a list that repeats it."""
    return {name: message[name] for name in message if name not in ("seq_id", "date")}


def _read_pieces(records: Iterable[Any]) -> tuple[Turn, ...]:
    made = list[Turn]()
    events, turn = list[Event](), LettaTurn()
    chunks, asked = LettaChunks(turn), False
    for index, record in enumerate(records):
        try:
            said = read_letta_message(record) if letta_type(record) == "user_message" else ()
            if asked and any(isinstance(event, UserMessage) for event in said):
                made.append(_turn([*events, *chunks.finish()], turn))
                events, turn = [], LettaTurn()
                chunks = LettaChunks(turn)
            asked = asked or any(isinstance(event, UserMessage) for event in said)
            events += said or chunks.feed(record)
        except ValueError as error:
            raise ValueError(f"message {index}: {error}") from error
    return name_results([*made, _turn([*events, *chunks.finish()], turn)])


def _turn(events: Iterable[Event], turn: LettaTurn) -> Turn:
    return Turn(events=tuple(events), steps=turn.steps.all)
