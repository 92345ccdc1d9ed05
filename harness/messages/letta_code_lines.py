"""The lines that Letta Code prints with `--output-format stream-json`: events and result go out.

Verified with the command of PyPI `letta` 0.34.12, on its local backend and on a server. One reader
reads one turn: what follows a prompt up to the line `result`.

- `system` with subtype `init` tells the agent. `message` lines are records of a stream of tokens;
  with `--include-partial-messages` they come as `event` of `stream_event`.
- Usage and stop reason come once a step, and the stop reason `requires_approval` says nothing:
  Letta Code makes the call itself.
- `error` is an error event, told once although the command repeats it at its end; `retry` and every
  other line is a system event of its type, and what is no JSON one of kind `stdout`.
- A user message in the lines is a system event `echoed_user_message`: the prompt is known already.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs

from harness.messages.completions import read_usage, text_or_none
from harness.messages.contents import shape_error
from harness.messages.letta_chunks import LettaChunks
from harness.messages.letta_messages import read_date
from harness.messages.letta_notices import SYSTEM_REMINDER, split_reminders
from harness.messages.letta_replies import LettaFailure, read_failure
from harness.messages.letta_turns import LettaTurn
from harness.system.json_lines import records_on
from harness.system.json_values import read_json
from harness.system.texts import scrub
from harness.types.events import ErrorEvent, Event, SystemEvent, UserMessage
from harness.types.trajectories import Step, Usage

ECHOED_USER_MESSAGE = "echoed_user_message"
STDOUT = "stdout"


@dataclass(frozen=True, slots=True, kw_only=True)
class LettaCodeInit:
    """Which agent answers: the first line. A field that the line lacks is None."""

    agent_id: str | None = None
    conversation_id: str | None = None
    model: str | None = None
    version: str | None = None
    permission_mode: str | None = None
    cwd: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LettaCodeResult:
    """How the turn ended: the line `result`. `ok` is whether its subtype is `success`."""

    ok: bool
    subtype: str | None = None
    text: str = ""
    usage: Usage = Usage()  # noqa: RUF009  (a frozen record)
    agent_id: str | None = None
    conversation_id: str | None = None


class LettaCodeLines:
    """Reads the lines of one turn into it."""

    def __init__(self, turn: LettaTurn | None = None) -> None:
        self.turn = turn or LettaTurn()
        self.init: LettaCodeInit | None = None
        self.result: LettaCodeResult | None = None
        self._chunks = LettaChunks(self.turn)
        self._failures: dict[tuple[str | None, str], LettaFailure] = {}

    @property
    def failures(self) -> tuple[LettaFailure, ...]:
        """Return the failures that the lines tell of, in order, each once."""
        told = self._chunks.reply.failure
        return (*([told] if told else []), *self._failures.values())

    @property
    def stop_reason(self) -> str | None:
        """Return why the last step ended."""
        return self._chunks.reply.stop_reason

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return the steps so far, with the model that the first line names."""
        model = self.init.model if self.init else None
        steps = self.turn.steps.all
        return tuple(structs.replace(step, model=step.model or model) for step in steps)

    def feed(self, line: str | bytes) -> tuple[Event, ...]:
        """Read the next line; return the events that are complete now.

        Several records on one line are read one by one; bytes that are no UTF-8 become U+FFFD.

        Raises:
            ValueError: a record is not of the shape that its type has.
        """
        text = line.decode(errors="replace") if isinstance(line, bytes) else line
        events: list[Event] = []
        for record in records_on(text):
            if isinstance(record, Mapping):
                events += self._read(record)
            else:
                events.append(SystemEvent(kind=STDOUT, text=record))
        return tuple(events)

    def finish(self) -> tuple[Event, ...]:
        """Return the events of what has arrived, whether the command ended or was stopped."""
        return self._own(self._chunks.finish())

    def _read(self, record: Mapping[str, Any]) -> tuple[Event, ...]:
        kind = record.get("type")
        if kind == "message":
            return self._own(self._chunks.feed(record))
        if kind == "stream_event":
            event = record.get("event")
            if not isinstance(event, Mapping):
                raise shape_error("stream_event: event must be an object", event)
            return self._own(self._chunks.feed(event))
        if kind == "system" and record.get("subtype") == "init":
            self.init = _read_init(record)
            return ()
        if kind == "error":
            return (*self.finish(), *self._read_error(record))
        if kind == "result":
            return self._read_result(record)
        return (_other_line(record),)

    def _own(self, events: tuple[Event, ...]) -> tuple[Event, ...]:
        return tuple(own for event in events for own in _without_prompt(event))

    def _read_error(self, record: Mapping[str, Any]) -> tuple[Event, ...]:
        failure = _failure_of(record)
        key = (failure.run_id, failure.message)
        known = self._failures.get(key)
        self._failures[key] = failure
        if known is not None:
            self._failures[key] = replace(known, retryable=failure.retryable)
            return ()
        at = read_date(record.get("timestamp"))
        return (ErrorEvent(kind=failure.kind, message=failure.text, at=at),)

    def _read_result(self, record: Mapping[str, Any]) -> tuple[Event, ...]:
        events = self.finish()
        self.result = _result_of(record)
        usages = [step.usage for step in self.turn.steps.all]
        if self.result.usage != Usage() and sum(usages, Usage()) == Usage():
            self.turn.steps.add_usage(record["usage"])
        return events


def _other_line(record: Mapping[str, Any]) -> SystemEvent:
    kind = text_or_none(record.get("type"))
    if kind == "system":
        kind = text_or_none(record.get("subtype")) or kind
    fields = {k: v for k, v in record.items() if k != "type" and v is not None}
    at = read_date(record.get("timestamp"))
    return SystemEvent(kind=kind or STDOUT, data=fields, at=at)


def _without_prompt(event: Event) -> Iterator[Event]:
    if not isinstance(event, UserMessage):
        yield event
        return
    text, reminders = split_reminders(event.text)
    for block in reminders:
        yield SystemEvent(kind=SYSTEM_REMINDER, text=block, at=event.at)
    if text:
        yield SystemEvent(kind=ECHOED_USER_MESSAGE, text=text, at=event.at)


def _failure_of(record: Mapping[str, Any]) -> LettaFailure:
    """Read an `error` line: `api_error` tells most, else the JSON that `message` may hold."""
    message = record.get("message")
    told = read_failure(record.get("api_error")) or _failure_in(message)
    if told is not None:
        return told
    text = scrub(message) if isinstance(message, str) else ""
    kind, run_id = text_or_none(record.get("stop_reason")), text_or_none(record.get("run_id"))
    return LettaFailure(kind=kind or "error", message=text, run_id=run_id)


def _failure_in(message: Any) -> LettaFailure | None:
    if not isinstance(message, str) or not message.lstrip().startswith("{"):
        return None
    try:
        fields = read_json(message)[0]
    except ValueError:
        return None
    return read_failure(fields.get("error"))


def _read_init(record: Mapping[str, Any]) -> LettaCodeInit:
    names = ("agent_id", "conversation_id", "model", "version", "permission_mode", "cwd")
    return LettaCodeInit(**{name: text_or_none(record.get(name)) for name in names})


def _result_of(record: Mapping[str, Any]) -> LettaCodeResult:
    subtype, text = text_or_none(record.get("subtype")), record.get("result")
    return LettaCodeResult(
        ok=subtype == "success" and not record.get("is_error"),
        subtype=subtype,
        text=scrub(text) if isinstance(text, str) else "",
        usage=read_usage(record.get("usage")),
        agent_id=text_or_none(record.get("agent_id")),
        conversation_id=text_or_none(record.get("conversation_id")),
    )
