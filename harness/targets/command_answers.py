"""What a command agent prints in one trial: lines come in, events and steps are recorded.

Whether it speaks in events or in plain text its first event tells, unless the suite does.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from harness.messages.pairing import CallsSoFar
from harness.system.clock import now
from harness.system.json_lines import records_on
from harness.system.texts import cut, scrub
from harness.targets.command_lines import is_meant, read_line
from harness.targets.hidden_secrets import hiding
from harness.types.errors import TargetError
from harness.types.events import AssistantMessage, ErrorEvent, Event, SystemEvent, ToolResult
from harness.types.protocols import Record

STDOUT = "stdout"
"""The kind of the system event for a line that is no event, such as a library's notice."""

STDERR = "stderr"
"""The kind of the system event for the end of what the program said on stderr in a turn."""

UNREAD_LINE = "unread_line"
"""The kind of the error event for a line that begins as an event and is none."""

MOST_EVENTS = 100_000
"""How many events one turn may have."""

MOST_TEXT = 2**20
"""How many bytes of a plain text are kept."""

_NOTICES = 100
_WIDTH = 2_000
_RECORD = re.compile(r'\{\s*"')
"""How an object begins."""

_MARK = b"\xef\xbb\xbf"
"""The byte order mark that some programs print before their first line."""


class CommandAnswers:
    """Reads the turns of one trial.

    Of the turn under way: `ended` says that the agent has said so, `has_spoken` that there is a
    message for the user, `failure` is the outage or failure that it told of, and `problem` the
    first line that cannot be read. `state` is the end state of the agent, None where it told none.
    """

    def __init__(self, protocol: str, secrets: Collection[str] = ()) -> None:
        self.reads_events = {"jsonl": True, "text": False}.get(protocol)
        self.state: Mapping[str, Any] | None = None
        self._secrets = secrets
        self._calls = CallsSoFar()
        self._turn, self._line = -1, 0

    def begin(self, record: Record) -> None:
        """Begin a turn."""
        # The program was given keys, which it can print.
        self._record = hiding(record, self._secrets)
        self._calls.begin_turn()
        self._turn += 1
        self._events = self._notices = 0
        self._plain = bytearray()
        self.ended = self.has_spoken = False
        self.failure: TargetError | None = None
        self.problem: str | None = None

    def take(self, line: bytes) -> None:
        """Read a line.

        Raises:
            TargetError: `agent_crash`, after more than `MOST_EVENTS` events.
        """
        self._line += 1
        if self.reads_events is False or (self.reads_events is None and not _is_event(line)):
            self._plain += line + b"\n"
            return
        self._read_events()
        self._read_line(line)
        if self._events > MOST_EVENTS:
            raise TargetError(f"more than {MOST_EVENTS:,} events in a turn", code="agent_crash")

    def finish(self, rest: bytes) -> None:
        """Record what has not been recorded; `rest` is the half line of a program that was cut."""
        if self.reads_events is None and _is_event(rest):
            self._read_events()
        if rest and self.reads_events:
            self._notice(rest.decode(errors="replace"))
        else:
            self._plain += rest
        if not self.reads_events:
            self._record_plain()
        if self._notices > _NOTICES:
            text = f"{self._notices - _NOTICES:,} more lines that are no events"
            self._add(SystemEvent(kind=STDOUT, text=text))

    def _record_plain(self) -> None:
        """Record plain text as the answer; of one that goes on without end only the beginning."""
        kept = self._plain[:MOST_TEXT]
        text = scrub(kept.decode(errors="replace")).rstrip("\r\n")
        if text.strip():
            self._add(AssistantMessage(text=text))
            self.has_spoken = True
        if left := len(self._plain) - len(kept):
            self._add(SystemEvent(kind=STDOUT, text=f"{left:,} more bytes of the answer"))

    def tell_errors(self, said: str) -> None:
        """Record what the program said on stderr, if anything."""
        if said.strip():
            text = said.rstrip()
            self._add(SystemEvent(kind=STDERR, text=text if len(text) <= _WIDTH else _end_of(text)))

    def _read_events(self) -> None:
        """Read events from now on, and what was held back until it was known what it is."""
        if self.reads_events:
            return
        self.reads_events = True
        held, last = bytes(self._plain).split(b"\n")[:-1], self._line
        self._plain.clear()
        for number, line in enumerate(held, start=last - len(held)):
            self._line = number
            self._read_line(line)
        self._line = last

    def _read_line(self, line: bytes) -> None:
        for record in _records(line):
            self._read(record)

    def _read(self, record: dict[str, Any] | str) -> None:
        if isinstance(record, str):
            if _RECORD.match(record) or is_meant(record):
                self._unread(f"this is no whole JSON object: {cut(record, _WIDTH)}")
            else:
                self._notice(record)
            return
        if "type" not in record:
            self._notice("", record)
            return
        try:
            told = read_line(record)
        except ValueError as error:
            self._unread(str(error))
            return
        if told.event is not None:
            self._add(told.event)
            self.has_spoken |= isinstance(told.event, AssistantMessage)
        if told.step is not None:
            self._events += 1
            self._record(told.step)
        self.state = self.state if told.state is None else told.state
        self.failure = self.failure or told.failure
        self.ended |= told.ends

    def _unread(self, problem: str) -> None:
        text = f"line {self._line} of the output: {problem}"
        self.problem = self.problem or text
        self._add(ErrorEvent(kind=UNREAD_LINE, message=scrub(cut(text, _WIDTH))))

    def _notice(self, text: str, data: Any = None) -> None:
        if not text.strip() and data is None:
            return
        self._notices += 1
        if self._notices <= _NOTICES:
            self._add(
                SystemEvent(kind=STDOUT, text=scrub(cut(text.rstrip("\r"), _WIDTH)), data=data)
            )

    def _add(self, event: Event) -> None:
        pair = self._calls.add(event, (self._turn, self._events))
        self._events += 1
        if isinstance(event, ToolResult) and pair is not None:
            event = replace(event, name=pair.name)
        self._record(event if event.at else replace(event, at=now()))


def _records(line: bytes) -> Iterable[dict[str, Any] | str]:
    return records_on(line.removeprefix(_MARK).decode(errors="replace"))


def _is_event(line: bytes) -> bool:
    return any(map(is_meant, _records(line)))


def _end_of(text: str) -> str:
    """Shorten a text to its end; an ellipsis says that it was cut."""
    return f"…{text[1 - _WIDTH :]}"
