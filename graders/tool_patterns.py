"""An entry of `tool-calls`: patterns that a call has to match, and how often."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from graders.argument_places import Span, span_in_call
from graders.call_records import CallRecord
from graders.json_comparison import text_of
from graders.text_searches import lint_pattern, slashed
from harness.messages.event_texts import event_text
from harness.system.patterns import compile_pattern, search
from harness.types.events import ToolCall
from harness.types.grades import Ref

_UNSUPPORTED: Mapping[str, str] = {
    "write_only": "which tools write is not defined",
    "read_only": "which tools read is not defined",
    "before_step": "what a step counts from is not defined",
    "at_step": "what a step counts from is not defined",
    "final": "what the last call is, is not defined",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPattern:
    """Matches calls by patterns on the tool's name, its arguments and its result.

    Raises:
        ValueError: the counts contradict each other, or a field is not supported.
    """

    name: str = field(metadata={"description": "Pattern on the tool's name; `^x$` for just x."})
    command: str | None = field(
        default=None, metadata={"description": "Pattern on the argument `command`."}
    )
    path: str | None = field(
        default=None, metadata={"description": "Pattern on the argument `path`."}
    )
    args: Mapping[str, str] = field(
        default_factory=dict,
        metadata={"description": "Patterns by the name of the argument; null reads `null`."},
    )
    pattern: str | None = field(
        default=None, metadata={"description": "Pattern on all arguments, as compact JSON."}
    )
    result: str | None = field(
        default=None, metadata={"description": "Pattern on the result; none does not match."}
    )
    min_count: int | None = field(
        default=None, metadata={"ge": 0, "description": "How many calls have to match; 1."}
    )
    max_count: int | None = field(
        default=None, metadata={"ge": 0, "description": "How many calls may match."}
    )
    write_only: Any = field(default=None, metadata={"description": "Not supported."})
    read_only: Any = field(default=None, metadata={"description": "Not supported."})
    before_step: Any = field(default=None, metadata={"description": "Not supported."})
    at_step: Any = field(default=None, metadata={"description": "Not supported."})
    final: Any = field(default=None, metadata={"description": "Not supported."})

    def __post_init__(self) -> None:
        for name, reason in _UNSUPPORTED.items():
            if getattr(self, name) is not None:
                raise ValueError(f"`{name}` is not supported: {reason}")
        if self.max_count is not None and self.max_count < self.least:
            raise ValueError(
                f"`max_count` {self.max_count} is less than the {self.least} call(s) that have to "
                "match; a call that must not happen belongs into `disallowed`"
            )
        if self.least == 0 and self.max_count is None:
            raise ValueError("`min_count` 0 without `max_count` asks for nothing")

    @property
    def least(self) -> int:
        """Return how many calls have to match."""
        return 1 if self.min_count is None else self.min_count

    @property
    def filters(self) -> dict[str, str]:
        """Return the patterns beside that on the name, by what they are matched against."""
        given = {
            "command": self.command,
            "path": self.path,
            **{f"argument {key}": pattern for key, pattern in self.args.items()},
            "arguments": self.pattern,
            "result": self.result,
        }
        return {what: pattern for what, pattern in given.items() if pattern is not None}

    @property
    def text(self) -> str:
        """Show the entry in evidence: `/bash/ with command pattern /npm test/`."""
        filters = [f"{what} pattern {slashed(one)}" for what, one in self.filters.items()]
        return slashed(self.name) + (f" with {' and '.join(filters)}" if filters else "")

    def lint(self, option: str) -> Iterable[tuple[str, str]]:
        """Find invalid patterns, reported at the option that holds the entry."""
        for pattern in (self.name, *self.filters.values()):
            yield from lint_pattern(pattern, option)

    def has_valid_patterns(self) -> bool:
        """Compile every pattern.

        Raises:
            PatternError: one of them is invalid.
        """
        return all(compile_pattern(one) for one in (self.name, *self.filters.values()))

    def find(self, record: CallRecord) -> tuple[Ref, ...] | None:
        """Point at what matches in a call, its name aside, and in its result; None for no match.

        Raises:
            SlowPattern: the time limit has passed.
        """
        spans = self._spans(record.call)
        if spans is None:
            return None
        turn, event = record.ref.turn, record.ref.event
        where = tuple(Ref(turn=turn, event=event, start=start, end=end) for start, end in spans)
        if self.result is None:
            return where
        for ref, result in record.results:
            match = search(self.result, result.output)
            if match:
                start, end = match.span()
                return *where, Ref(turn=ref.turn, event=ref.event, start=start, end=end)
        return None

    def _spans(self, call: ToolCall) -> Collection[tuple[int | None, int | None]] | None:
        """Return where each pattern on arguments matches in the text of a call.

        Without such patterns it is the call as a whole; None if one of them does not match.
        """
        matches: list[tuple[str | None, Span]] = []
        for name, pattern in self._on_arguments():
            match = next((search(pattern, text_of(one)) for one in _given(call, name)), None)
            if match is None:
                return None
            matches.append((name, match.span()))
        whole = (None, None)
        if not matches:
            return [whole]
        sent = event_text(call)
        spans = [span_in_call(sent, call.arguments, span, name) for name, span in matches]
        return dict.fromkeys(span or whole for span in spans)

    def _on_arguments(self) -> Iterator[tuple[str | None, str]]:
        """Return the patterns by the name of the argument, None for all arguments."""
        if self.command is not None:
            yield "command", self.command
        if self.path is not None:
            yield "path", self.path
        yield from self.args.items()
        if self.pattern is not None:
            yield None, self.pattern


def _given(call: ToolCall, name: str | None) -> Iterator[Any]:
    """Return the argument of a name, if there is one: null is one, and reads `null`."""
    if name is None:
        yield call.arguments
    elif isinstance(call.arguments, Mapping) and name in call.arguments:
        yield call.arguments[name]
