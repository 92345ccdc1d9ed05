"""A trajectory comes in, the messages that graders written for letta-evals receive go out.

One list a turn, in each the Letta messages in order, as mappings (`harness.messages.letta_models`
makes letta_client objects of them). Any trajectory can be written, whatever it was recorded on:

- Calls of one step that follow each other are one `tool_call_message`, with all in `tool_calls` and
  the first in `tool_call`; calls that waited for approval are an `approval_request_message`. Each
  result is a `tool_return_message` of its own, so that what looks at its `tool_call_id` finds it.
- System events go back into the messages they came from; one that comes from none is an
  `event_message` of its kind. An error is an `error_message`.
- What the source lacks is made up, and is the same each time: ids (`message-<turn>-<n>`,
  `step-<turn>-<step>`, `call-<turn>-<event>`), and as date the last one before it (else 1970).

Written and read again by `read_letta_turns`, messages of Letta give the same events.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from harness.messages.assistant_messages import DUPLICATE_KEYS
from harness.messages.event_texts import sent_arguments
from harness.messages.letta_events import system_fields
from harness.messages.letta_messages import APPROVAL_REQUEST
from harness.messages.letta_tools import read_letta_calls
from harness.messages.pairing import Place, pair_results
from harness.types.events import (
    AssistantMessage,
    ErrorEvent,
    Event,
    Reasoning,
    SystemEvent,
    ToolCall,
    ToolResult,
    UserMessage,
)
from harness.types.trajectories import Trajectory, Turn

Record = dict[str, Any]
"""One Letta message as a mapping of JSON values."""

_Numbered = tuple[int, Event]


def write_letta_records(trajectory: Trajectory) -> list[list[Record]]:
    """Write a trajectory as Letta messages, one list a turn."""
    writer = _Writer(_call_ids(trajectory.turns))
    return [writer.write_turn(t, turn) for t, turn in enumerate(trajectory.turns)]


def _call_ids(turns: tuple[Turn, ...]) -> dict[Place, str]:
    """Return the id of every call and result, made up where it has none."""
    ids: dict[Place, str] = {}
    for t, turn in enumerate(turns):
        for e, event in enumerate(turn.events):
            if isinstance(event, ToolCall | ToolResult):
                ids[t, e] = f"call-{t}-{e}" if event.call_id is None else event.call_id
    for pair in pair_results(turns):
        ids[pair.result] = ids[pair.call]
    return ids


class _Writer:
    """Writes the turns of one trajectory, in order."""

    def __init__(self, call_ids: Mapping[Place, str]) -> None:
        self._call_ids = call_ids
        self._date = datetime(1970, 1, 1, tzinfo=UTC)
        self._turn = 0
        self._count = 0

    def write_turn(self, t: int, turn: Turn) -> list[Record]:
        """Write one turn."""
        self._turn, self._count = t, 0
        return [record for group in _groups(turn.events) for record in self._write(group)]

    def _write(self, group: list[_Numbered]) -> Iterator[Record]:
        """Write the events that one message, or two, hold."""
        index, event = group[0]
        match event:
            case ToolCall():
                yield from self._write_calls(group)
            case ToolResult():
                fields = _return_fields(event, self._call_ids[self._turn, index])
                yield self._message("tool_return_message", event, fields)
            case UserMessage():
                yield self._message("user_message", event, {"content": event.text})
            case AssistantMessage():
                yield self._message("assistant_message", event, {"content": event.text})
            case Reasoning():
                yield self._message("reasoning_message", event, _reasoning_fields(event))
            case ErrorEvent():
                yield self._message("error_message", event, self._error_fields(event))
            case SystemEvent():
                kind, fields = system_fields(event)
                yield self._message(kind, event, fields)

    def _write_calls(self, group: list[_Numbered]) -> Iterator[Record]:
        calls = [(index, event) for index, event in group if isinstance(event, ToolCall)]
        waiting = _waiting(group)
        done = len(calls) - waiting
        for kind, part in (
            ("tool_call_message", calls[:done]),
            ("approval_request_message", calls[done:]),
        ):
            if part:
                written = [_call(call, self._call_ids[self._turn, index]) for index, call in part]
                fields = {"tool_call": written[0], "tool_calls": written}
                yield self._message(kind, part[0][1], fields)

    def _message(self, kind: str, event: Event, fields: Mapping[str, Any]) -> Record:
        number, self._count = self._count, self._count + 1
        self._date = event.at or self._date
        step = None if event.step is None else f"step-{self._turn}-{event.step}"
        ids = {"id": f"message-{self._turn}-{number}", "otid": f"message-{self._turn}-{number}"}
        envelope = {"name": event.agent, "sender_id": None, "step_id": step, "run_id": None}
        return {
            "message_type": kind,
            **ids,
            "date": self._date.isoformat(),
            **envelope,
            "is_err": None,
            "seq_id": None,
            **fields,
        }

    def _error_fields(self, event: ErrorEvent) -> Record:
        run_id = f"run-{self._turn}"
        return {"error_type": event.kind, "message": event.message, "run_id": run_id}


def _groups(events: Iterable[Event]) -> Iterator[list[_Numbered]]:
    """Put the calls of one message together, with the system events that tell of them."""
    group: list[_Numbered] = []
    for numbered in enumerate(events):
        if group and _joins(group, numbered[1]):
            group.append(numbered)
            continue
        if group:
            yield group
        group = [numbered]
    if group:
        yield group


def _joins(group: list[_Numbered], event: Event) -> bool:
    first, last = group[0][1], group[-1][1]
    if not isinstance(first, ToolCall) or (first.step, first.agent) != (event.step, event.agent):
        return False
    if isinstance(last, SystemEvent) and last.kind == APPROVAL_REQUEST:
        return False
    if isinstance(event, SystemEvent):
        return _is_derived(last, event) or _waiting([*group, (0, event)]) > 0
    return isinstance(event, ToolCall)


def _is_derived(call: Event, event: SystemEvent) -> bool:
    """Say whether reading the call gives the event: it need not be written."""
    if not isinstance(call, ToolCall) or event.kind != DUPLICATE_KEYS:
        return False
    found = list(read_letta_calls({"tool_call": _call(call, "")}, {}))[1:]
    keys = [one.data["keys"] for one in found if isinstance(one, SystemEvent)]
    return keys == [event.data.get("keys") if isinstance(event.data, dict) else None]


def _waiting(group: list[_Numbered]) -> int:
    """Return how many of the calls of a group, from its end, its last event says need approval."""
    event = group[-1][1]
    if not isinstance(event, SystemEvent) or event.kind != APPROVAL_REQUEST or event.text:
        return 0
    data = event.data
    asked = data.get("tool_call_ids") if isinstance(data, dict) and len(data) == 1 else None
    if not isinstance(asked, list) or not asked:
        return 0
    ids = [call.call_id for _, call in group if isinstance(call, ToolCall)]
    return len(asked) if ids[-len(asked) :] == asked else 0


def _call(call: ToolCall, call_id: str) -> Record:
    return {"name": call.name, "arguments": sent_arguments(call), "tool_call_id": call_id}


def _return_fields(result: ToolResult, call_id: str) -> Record:
    status = "success" if result.ok else "error"
    printed = result.structured if _is_printed(result.structured) else {}
    lines = {"stdout": printed.get("stdout"), "stderr": printed.get("stderr")}
    whole = printed.get("content", result.output)
    shared = {"status": status, "tool_call_id": call_id, **lines}
    return {
        "name": result.name,
        "tool_return": result.output,
        **shared,
        "tool_returns": [{"type": "tool", "tool_return": whole, **shared}],
    }


def _is_printed(structured: Any) -> bool:
    """Say whether a result's structure is that of a Letta return."""
    return (
        isinstance(structured, dict)
        and bool(structured)
        and structured.keys() <= {"stdout", "stderr", "content"}
        and all(isinstance(structured.get(key, []), list) for key in ("stdout", "stderr"))
    )


def _reasoning_fields(event: Reasoning) -> Record:
    return {"reasoning": event.text, "source": "reasoner_model", "signature": None}
