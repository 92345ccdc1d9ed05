"""Sessions of Claude Code (1.x, 2.x), and what `--output-format stream-json` prints: JSON Lines.

`/clear` ends a conversation and begins another. A sub-agent's messages are a conversation of their
own, in which no user speaks: in a file of theirs (`agent-….jsonl`), or among those of the main
agent (`isSidechain`, `parent_tool_use_id`); they come after it. A prompt is not in what is printed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.importers.record_fields import field_seconds
from harness.importers.recorded_failures import read_outage, status_of
from harness.messages.claude_code_lines import (
    ClaudeCodeLines,
    is_clear_line,
    is_said_line,
    is_session_line,
    is_session_note,
)
from harness.messages.completions import read_usage, text_or_none
from harness.messages.turn_building import TurnBuilder
from harness.system.json_values import compact_json
from harness.types.imports import ForeignSource, Head, Imported, Unreadable
from harness.types.trajectories import Usage
from harness.types.trials import Failure

_FIELDS = ("sessionId", "session_id", "agentId", "isSidechain", "parent_tool_use_id")
_ROOM_FIELDS = (*_FIELDS, "version", "cwd", "gitBranch", "slug", "entrypoint")
_LIMITS = ("error_max_turns", "error_max_budget_usd", "error_max_structured_output_retries")


@dataclass(frozen=True, slots=True)
class ClaudeCode:
    """Sessions of Claude Code: conversations between `/clear`, then those of sub-agents."""

    specification: ClassVar[str] = "Claude Code session files and stream-json, 1.x and 2.x"

    def claims(self, head: Head) -> bool:
        """Say whether the first lines are a session's."""
        values: tuple[Any, ...] = head.values
        if len(values) == 1 and isinstance(values[0], list):
            values = tuple(values[0][:20])
        return any(map(is_session_line, values)) or any(map(is_session_note, values[:1]))

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return the conversations of a session.

        Raises:
            ValueError: no line holds a message or a note of a session.
        """
        session = _Session(source.shown)
        for number, value in _lines(source):
            session.add(value, number)
        if not session.known:
            raise ValueError(f"{source.shown}: no line is of a session of Claude Code")
        yield from session.conversations()


def _lines(source: ForeignSource) -> Iterator[tuple[int, Any]]:
    for count, (place, value) in enumerate(source.values(lenient=True), 1):
        number = place.rpartition(":")[2]
        if not number.isdecimal() and isinstance(value, list):
            yield from enumerate(value, 1)
        else:
            yield int(number) if number.isdecimal() else count, value


class _Session:
    """Sorts the lines of a file into conversations."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._main = [_Conversation(is_sub_agent=False)]
        self._cleared = False
        self._agents: dict[str, _Conversation] = {}
        self._agent_of: dict[str, str] = {}
        self._seen: set[int] = set()
        self.known = False

    def add(self, value: Any, number: int) -> None:
        """Add the next line.

        Raises:
            ValueError: it cannot be kept as JSON; with its place.
        """
        if self._is_repeated(value):
            return
        agent = self._agent(value)
        self.known = self.known or is_session_line(value) or is_session_note(value)
        if agent is not None:
            conversation = self._agents.setdefault(agent, _Conversation(is_sub_agent=True))
        else:
            conversation = self._main_conversation(value)
        try:
            conversation.add(value, number)
        except ValueError as error:
            raise ValueError(f"{self._place}:{number}: {error}") from error

    def _is_repeated(self, value: Any) -> bool:
        """Say whether a line was there before: sessions that are resumed repeat their beginning."""
        own = value.get("uuid") if isinstance(value, Mapping) else None
        if not isinstance(own, str):
            return False
        key = hash((own, compact_json(value)))
        is_second = key in self._seen
        self._seen.add(key)
        return is_second

    def _agent(self, value: Any) -> str | None:
        """Return which sub-agent a line is of: by its id, or by the line that it follows."""
        if not isinstance(value, Mapping):
            return None
        printed = text_or_none(value.get("parent_tool_use_id"))
        if not value.get("isSidechain"):
            return printed
        own, before = text_or_none(value.get("uuid")), text_or_none(value.get("parentUuid"))
        told = text_or_none(value.get("agentId"))
        agent = told or self._agent_of.get(before or "") or own or "sidechain"
        if own is not None:
            self._agent_of[own] = agent
        return agent

    def _main_conversation(self, value: Any) -> "_Conversation":
        last = self._main[-1]
        if not is_session_line(value):
            return last
        if is_clear_line(value):
            self._cleared = last.begun
        elif self._cleared and is_said_line(value):
            # What the command printed still belongs to the conversation that it ended.
            self._cleared = False
            self._main.append(_Conversation(is_sub_agent=False))
        return self._main[-1]

    def conversations(self) -> Iterator[Imported]:
        """Return the conversations of the main agent, then those of its sub-agents."""
        for conversation in self._main:
            if conversation.noted or not self._agents:
                yield conversation.imported(self._place)
        for conversation in self._agents.values():
            yield conversation.imported(self._place)


class _Conversation:
    """Collects the lines of one conversation."""

    def __init__(self, *, is_sub_agent: bool) -> None:
        self._builder = TurnBuilder()
        self._lines = ClaudeCodeLines(self._builder, is_sub_agent=is_sub_agent)
        self._fields: dict[str, Any] = {}
        self._model: str | None = None
        self._end: Mapping[str, Any] = {}
        self.begun = self.noted = False

    def add(self, value: Any, number: int) -> None:
        """Add the next line."""
        self.noted = True
        if isinstance(value, Unreadable):
            found = {"text": value.text, "problem": value.problem}
            self._lines.keep("unreadable_line", found, number)
            return
        self._lines.add(value, number)
        if not isinstance(value, Mapping):
            return
        for name in _ROOM_FIELDS:
            if name in value:
                self._fields.setdefault(name, value[name])
        message = value.get("message")
        model = text_or_none(message.get("model")) if isinstance(message, Mapping) else None
        if model is not None and not model.startswith("<"):
            self._model = self._model or model
        self.begun = self.begun or is_said_line(value)
        if value.get("type") == "result":
            self._end = value

    def imported(self, place: str) -> Imported:
        """Return the record of the conversation."""
        failure = self._failure()
        return Imported(
            place=place,
            trajectory=self._builder.trajectory(),
            model=self._model,
            status=status_of(failure),
            failure=failure,
            seconds=field_seconds(self._end, "duration_ms", per_second=1000),
            outcomes={"exit_status": end} if (end := self._subtype()) else {},
            fields={**self._fields, **({"result": self._end} if self._end else {})},
            unread=self._builder.unread,
            usage=self._usage(),
        )

    def _subtype(self) -> str | None:
        return text_or_none(self._end.get("subtype"))

    def _failure(self) -> Failure | None:
        end = self._subtype()
        if end in _LIMITS:
            return Failure(code="max_steps", message=f"the session ended with {end}")
        if self._end.get("is_error"):
            return read_outage(text_or_none(self._end.get("result")) or end or "no message")
        failed = self._lines.failed
        return None if failed is None or self._end else read_outage(failed or "no message")

    def _usage(self) -> Usage | None:
        usage, cost = self._end.get("usage"), self._end.get("total_cost_usd")
        numbers = usage if isinstance(usage, Mapping) else {}
        found = read_usage({**numbers, "cost": cost})
        return None if found == Usage() else found
