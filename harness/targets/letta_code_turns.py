"""One turn of Letta Code: the lines of one process come in, events and steps are recorded."""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from harness.messages.letta_code_lines import STDOUT, LettaCodeLines
from harness.system.clock import now
from harness.system.texts import cut, scrub
from harness.targets.hidden_secrets import hiding
from harness.types.errors import TargetError
from harness.types.events import ErrorEvent, Event, SystemEvent
from harness.types.protocols import Record

UNREAD_LINE = "unread_line"
"""The kind of the error event for a line that is of no known shape."""

WORKED_IN = "pwd"
"""The kind of the system event whose text is the folder that `{pwd}` named."""

MOST_EVENTS = 100_000
"""How many events one turn may have."""

_PLAIN_LINES = 100
_WIDTH = 2_000
_RETRY = "retry"
_RECORD = '{"'
"""How the records of the command begin; it writes no spaces between."""


class CodeTurn:
    """Reads what one process prints, and records it; `asked_again` counts its own retries.

    `torn` is the first line, if any, that begins as a record and is no whole one.
    """

    def __init__(self, record: Record, secrets: Sequence[str] = ()) -> None:
        self.lines = LettaCodeLines()
        self.asked_again = 0
        self.torn: str | None = None
        # The command was given keys, which its tools can print.
        self._record = hiding(record, secrets)
        self._events = self._plain = 0

    def tell_folder(self, folder: Path) -> None:
        """Record what stood for `{pwd}` in the prompt, which is recorded as it was written."""
        self._add(SystemEvent(kind=WORKED_IN, text=folder.as_posix(), at=now()))

    def take(self, line: bytes) -> None:
        """Read a line.

        Raises:
            TargetError: `agent_crash`, after more than `MOST_EVENTS` events.
        """
        try:
            events = self.lines.feed(line)
        except ValueError as error:
            shown = cut(line[:_WIDTH].decode(errors="replace"), _WIDTH)
            events = (_unread(f"{error}: {shown}"),)
        for event in events:
            self._keep(event)
        if self._events > MOST_EVENTS:
            raise TargetError(f"more than {MOST_EVENTS:,} events in a turn", code="agent_crash")

    def finish(self) -> None:
        """Record what has arrived and was not whole, and the steps; also of a turn that was cut."""
        try:
            events = self.lines.finish()
        except ValueError as error:
            events = (_unread(str(error)),)
        for event in events:
            self._keep(event)
        if self._plain > _PLAIN_LINES:
            text = f"{self._plain - _PLAIN_LINES:,} more lines that are no JSON"
            self._add(SystemEvent(kind=STDOUT, text=text, at=now()))
        for step in self.lines.steps:
            self._record(step)

    def _keep(self, event: Event) -> None:
        if isinstance(event, SystemEvent) and event.kind == STDOUT and event.data is None:
            self._plain += 1
            if self.torn is None and event.text.startswith(_RECORD):
                self.torn = event.text
            if self._plain > _PLAIN_LINES:
                return
            event = replace(event, text=cut(event.text, _WIDTH))
        self.asked_again += isinstance(event, SystemEvent) and event.kind == _RETRY
        self._add(event)

    def _add(self, event: Event) -> None:
        self._events += 1
        self._record(event)


def _unread(problem: str) -> ErrorEvent:
    return ErrorEvent(kind=UNREAD_LINE, message=scrub(problem), at=now())
