"""Events of a trajectory of Vally (0.12 to 0.16): events come in, a conversation goes out.

An event is `{"type", "timestamp", "data", "turn"}`. One without `turn` belongs to the turn of the
latest user message before it, to turn 0 before any. `turn_start` and `turn_end` enclose a reply of
the model; they are no turns of the user. Every session that ends well has a `turn_end`, so a turn
without either is given a system event `turn_end_missing`. A system event, or one of a plug-in
(`custom`), is a system event of its `eventType`.
"""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from harness.messages.arguments import read_arguments
from harness.messages.assistant_messages import read_id
from harness.messages.completions import text_or_none
from harness.messages.copilot_events import (
    SKILL_ACTIVATION,
    read_token_usage,
    read_tool_output,
)
from harness.messages.letta_messages import read_date
from harness.messages.pairing import name_results
from harness.messages.reply_steps import ReplySteps
from harness.messages.thinking import add_said
from harness.messages.turn_building import TurnBuilder
from harness.system.json_values import clean_json, compact_json
from harness.system.texts import scrub
from harness.types.events import SystemEvent, UserMessage
from harness.types.trajectories import Turn

NO_TURN_END = "turn_end_missing"
"""The kind of the system event that stands at the end of a turn without marks of replies."""

_Fields = Mapping[str, Any]
_Reader = Callable[["_TurnReader", _Fields, dict[str, Any]], None]


class VallyTurns:
    """Reads the events of one trajectory into its turns."""

    def __init__(self) -> None:
        self._turns: dict[int, _TurnReader] = {}
        self._of_user = -1
        self._count = 0

    def read(self, event: Any) -> None:
        """Read the next event; one of no known shape is kept as it is."""
        self._count += 1
        fields = event if isinstance(event, Mapping) else {}
        kind = fields.get("type")
        reader = self._turn(self._place(fields, is_user=kind == "user_message"))
        if isinstance(kind, str) and kind:
            reader.read(kind, fields)
        else:
            reader.builder.keep_unread("event", clean_json(event))

    def say(self, text: str) -> None:
        """Add an answer that the events do not hold, to the last turn."""
        self._turn(max(self._turns, default=0)).say(text)

    def close(self) -> None:
        """Note the turns that have no mark of a reply: there are no more events."""
        for turn in self._turns.values():
            turn.close()

    @property
    def unread(self) -> dict[str, int]:
        """Count what was not understood, by kind."""
        found: dict[str, int] = {}
        for turn in self._turns.values():
            for kind, count in turn.builder.unread.items():
                found[kind] = found.get(kind, 0) + count
        return found

    def turns(self) -> tuple[Turn, ...]:
        """Return the turns so far; one that no event belongs to has none."""
        made = [self._turns.get(index) for index in range(max(self._turns, default=-1) + 1)]
        return name_results(Turn() if one is None else one.turn() for one in made)

    def _turn(self, index: int) -> "_TurnReader":
        return self._turns.setdefault(index, _TurnReader())

    def _place(self, event: _Fields, *, is_user: bool) -> int:
        told = event.get("turn")
        # A number beyond that of the events is none: no conversation has so many turns.
        if isinstance(told, bool) or not isinstance(told, int) or not 0 <= told < self._count:
            told = None
        if is_user:
            self._of_user = self._of_user + 1 if told is None else told
        return max(self._of_user, 0) if told is None else told


class _TurnReader:
    """Reads the events of one turn."""

    def __init__(self) -> None:
        self.builder = TurnBuilder()
        self._steps = ReplySteps(self.builder)
        self._is_marked = False

    def read(self, kind: str, event: _Fields) -> None:
        data = event.get("data")
        shared = {"at": read_date(event.get("timestamp"))}
        reader = _READERS.get(kind)
        if reader is None or not (data is None or isinstance(data, Mapping)):
            self.builder.keep_unread(scrub(kind), clean_json(event.get("data")), **shared)
        else:
            reader(self, data or {}, shared)

    def turn(self) -> Turn:
        turns = self.builder.trajectory().turns
        return turns[0] if turns else Turn()

    def close(self) -> None:
        if not self._is_marked:
            self.builder.system(NO_TURN_END)

    def user(self, data: _Fields, shared: dict[str, Any]) -> None:
        self.builder.add(UserMessage(text=_text(data.get("content")), **shared))

    def say(self, text: str) -> None:
        self._steps.begin()
        add_said(self.builder, text)

    def assistant(self, data: _Fields, shared: dict[str, Any]) -> None:
        self._steps.begin()
        add_said(self.builder, _text(data.get("content")), **shared)

    def reasoning(self, data: _Fields, shared: dict[str, Any]) -> None:
        self._steps.begin()
        self.builder.reasoning(_text(data.get("content")), **shared)

    def mark(self, kind: str, data: _Fields, shared: dict[str, Any]) -> None:
        self._steps.end()
        self._is_marked = True
        self.builder.add(SystemEvent(kind=kind, data=clean_json(data), **shared))

    def call(self, data: _Fields, shared: dict[str, Any]) -> None:
        self._steps.begin()
        name = text_or_none(data.get("toolName")) or "unknown"
        arguments = read_arguments(data.get("arguments"))
        sent = {"arguments_text": arguments.text}
        call_id = read_id(data.get("toolCallId"))
        self.builder.call(call_id, scrub(name), arguments.value, **sent, **shared)

    def result(self, data: _Fields, shared: dict[str, Any]) -> None:
        text, structured = read_tool_output(data.get("result"), data.get("error"))
        told = {"ok": data.get("success") is not False, "structured": structured}
        self.builder.result(read_id(data.get("toolCallId")), text, **told, **shared)
        self._steps.end()

    def skill(self, data: _Fields, shared: dict[str, Any]) -> None:
        self.builder.system(SKILL_ACTIVATION, _text(data.get("name")), clean_json(data), **shared)

    def usage(self, data: _Fields, _shared: dict[str, Any]) -> None:
        self._steps.use(read_token_usage(data), text_or_none(data.get("model")))

    def system(self, data: _Fields, shared: dict[str, Any]) -> None:
        kind = text_or_none(data.get("eventType")) or "system"
        rest = {name: value for name, value in data.items() if name != "eventType"}
        self.builder.system(scrub(kind), data=clean_json(rest), **shared)

    def error(self, data: _Fields, shared: dict[str, Any]) -> None:
        named = (text_or_none(data.get(name)) for name in ("type", "code"))
        kind = next(filter(None, named), None) or "error"
        self.builder.error(scrub(kind), _text(data.get("message")), **shared)


def _mark(kind: str) -> _Reader:
    return lambda reader, data, shared: reader.mark(kind, data, shared)


_READERS: Mapping[str, _Reader] = MappingProxyType(
    {
        "user_message": _TurnReader.user,
        "assistant_message": _TurnReader.assistant,
        "reasoning": _TurnReader.reasoning,
        "turn_start": _mark("turn_start"),
        "turn_end": _mark("turn_end"),
        "tool_call": _TurnReader.call,
        "tool_result": _TurnReader.result,
        "skill_activation": _TurnReader.skill,
        "token_usage": _TurnReader.usage,
        "system": _TurnReader.system,
        "custom": _TurnReader.system,
        "error": _TurnReader.error,
    }
)


def is_vally_event(value: Any) -> bool:
    """Say whether a record is an event of a trajectory of Vally."""
    if not isinstance(value, Mapping) or not isinstance(value.get("data"), Mapping):
        return False
    return isinstance(value.get("type"), str) and value["type"] in _READERS


def read_vally_events(events: Iterable[Any], output: Any = None) -> VallyTurns:
    """Read the events of a trajectory; where the agent says nothing in them, `output` is said."""
    turns = VallyTurns()
    silent = True
    for event in events:
        turns.read(event)
        kind = event.get("type") if isinstance(event, Mapping) else None
        silent = silent and kind != "assistant_message"
    turns.close()
    if silent and isinstance(output, str) and output:
        turns.say(scrub(output))
    return turns


def _text(value: Any) -> str:
    if value is None:
        return ""
    return scrub(value) if isinstance(value, str) else compact_json(value)
