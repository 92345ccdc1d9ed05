"""A streamed reply of Letta: its records come in one by one, the events they complete go out.

A stream by steps holds whole messages. In a stream of tokens the pieces of a message share its id
and `otid`: the texts are joined, and the pieces of parallel calls are told apart by `tool_call_id`.
Both give the events of the blocking reply:

- A stream of tokens shows a call that the server then drops, because its agent makes one call at a
  time. The blocking reply and the history know nothing of that call, so neither does the
  trajectory: once another call of the message has a result, a call without one is taken out, and
  stands in `unexecuted`. Where none has a result (a cut stream, an approval), all are kept.
- The server writes the arguments of a call anew before it makes it (a JSON text as Python writes
  it, `{}` for what is no JSON). A call that was streamed and made has the arguments so written; one
  that was cut off, or waits for approval, has them as they were streamed.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.messages.completions import read_usage, text_or_none
from harness.messages.letta_messages import letta_type, read_letta_message
from harness.messages.letta_pieces import JOINED_TYPES, MessagePieces
from harness.messages.letta_replies import LettaFailure, LettaReply, read_failure, read_stop_reason
from harness.messages.letta_tools import read_letta_calls
from harness.messages.letta_turns import LettaTurn
from harness.types.events import Event, ToolCall, ToolResult
from harness.types.trajectories import Usage


class LettaChunks:
    """Reads one streamed reply into a turn.

    `parallel` is whether the agent makes several calls at a time, None where that is unknown; with
    False all but the first call of a message are taken out at once, also those of an approval.
    """

    def __init__(self, turn: LettaTurn, *, parallel: bool | None = None) -> None:
        self._turn = turn
        self._parallel = parallel
        self._open: MessagePieces | None = None
        self._held: list[dict[str, Any]] = []
        self._returned: set[str | None] = set()
        self._awaited: set[str | None] = set()
        self._seen: set[tuple[Any, ...]] = set()
        self._unexecuted: list[ToolCall] = []
        self._stop_reason: str | None = None
        self._usage = Usage()
        self._failure: LettaFailure | None = None
        self._run_id: str | None = None

    @property
    def reply(self) -> LettaReply:
        """Return how the reply ended, as far as it has arrived."""
        return LettaReply(
            stop_reason=self._stop_reason,
            usage=self._usage,
            failure=self._failure,
            run_id=self._run_id,
        )

    @property
    def unexecuted(self) -> tuple[ToolCall, ...]:
        """Return the calls that were streamed, but that the server never made."""
        return tuple(self._unexecuted)

    def feed(self, chunk: Any) -> tuple[Event, ...]:
        """Read the next record of the stream; return the events that are complete now.

        A record that a resumed stream repeats (the same run and `seq_id`) is read once.

        Raises:
            ValueError: it is not of that shape; the text names the type and the place.
        """
        kind = letta_type(chunk)
        self._run_id = text_or_none(chunk.get("run_id")) or self._run_id
        if kind == "ping" or self._is_repeat(kind, chunk):
            return ()
        if self._open is not None and self._open.takes(kind, chunk):
            self._open.add(chunk)
            return ()
        events = self._close()
        if kind in JOINED_TYPES and not isinstance(chunk.get("tool_calls"), list | tuple):
            self._open = MessagePieces(kind, chunk)
            return events
        return (*events, *self._pass_on(kind, chunk))

    def finish(self) -> tuple[Event, ...]:
        """Return the events of what has arrived so far, whether the stream has ended or was cut."""
        return (*self._close(), *self._release())

    def _is_repeat(self, kind: str, chunk: Mapping[str, Any]) -> bool:
        number, run_id = chunk.get("seq_id"), text_or_none(chunk.get("run_id"))
        if not isinstance(number, int) or run_id is None:
            return False
        key = (run_id, number, kind)
        repeated = key in self._seen
        self._seen.add(key)
        return repeated

    def _close(self) -> tuple[Event, ...]:
        """End the message whose pieces have been arriving."""
        made, self._open = self._open, None
        if made is None:
            return ()
        message = made.whole()
        if made.has_calls and self._parallel is False:
            message = self._without(message, range(1, len(message["tool_calls"])))
        if not (made.is_from_server and made.kind == "tool_call_message"):
            return self._pass_on(made.kind, message)
        events = self._release()
        self._held = [message]
        self._awaited = {call["tool_call_id"] for call in message["tool_calls"]}
        return events

    def _pass_on(self, kind: str, message: Mapping[str, Any]) -> tuple[Event, ...]:
        """Read a whole message; results wait until all of the calls that are held have theirs."""
        if not self._held or kind != "tool_return_message":
            return (*self._release(), *self._read(kind, message))
        results = (e for e in read_letta_message(message) if isinstance(e, ToolResult))
        for result in results:
            self._returned.add(result.call_id)
            self._awaited.discard(result.call_id)
        self._held.append(dict(message))
        return () if self._awaited else self._release()

    def _release(self) -> tuple[Event, ...]:
        """Read the calls that were held, and the results behind them."""
        held, self._held = self._held, []
        returned, self._returned = self._returned, set()
        if not held:
            return ()
        message, *results = held
        if returned:
            ids = [call["tool_call_id"] for call in message["tool_calls"]]
            message = self._without(
                message, [i for i, one in enumerate(ids) if one not in returned]
            )
            message["tool_calls"] = [_as_made(call) for call in message["tool_calls"]]
        return tuple(event for one in (message, *results) for event in self._turn.read(one))

    def _without(self, message: dict[str, Any], places: Sequence[int]) -> dict[str, Any]:
        """Take calls out of a message, unless that leaves none."""
        calls = message["tool_calls"]
        if len(places) == len(calls):
            return message
        dropped = {"tool_calls": [calls[place] for place in places]}
        events = read_letta_calls(dropped, {})
        self._unexecuted += [event for event in events if isinstance(event, ToolCall)]
        gone = frozenset(places)
        kept = [call for place, call in enumerate(calls) if place not in gone]
        return {**message, "tool_calls": kept, "tool_call": kept[0]}

    def _read(self, kind: str, message: Mapping[str, Any]) -> tuple[Event, ...]:
        if kind == "stop_reason":
            self._stop_reason = read_stop_reason(message) or self._stop_reason
        elif kind == "usage_statistics":
            self._usage += read_usage(message)
        elif kind == "error_message":
            self._failure = read_failure(message) or LettaFailure(kind="error")
        return self._turn.read(message)


def read_letta_stream(
    chunks: Iterable[Any], turn: LettaTurn
) -> tuple[tuple[Event, ...], LettaReply]:
    """Read a whole stream that is at hand, such as a stored one.

    Raises:
        ValueError: a record is not of that shape; the text names its index, from 0.
    """
    reader = LettaChunks(turn)
    events: list[Event] = []
    for index, chunk in enumerate(chunks):
        try:
            events += reader.feed(chunk)
        except ValueError as error:
            raise ValueError(f"record {index}: {error}") from error
    events += reader.finish()
    return tuple(events), reader.reply


def _as_made(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call with its arguments as the server 0.16.8 writes them when it makes the call."""
    text = call.get("arguments")
    if not isinstance(text, str):
        return dict(call)
    # The server takes the first of several objects that a model sends for parallel calls.
    first = text.split("}{", 1)[0] + "}" if "}{" in text else text
    try:
        value = json.loads(first)
        written = json.dumps(value if isinstance(value, dict) else json.loads(value))
    except (ValueError, TypeError, RecursionError):
        written = "{}"
    return {**call, "arguments": written}
