"""Codex (CLI of 2025 and 2026): session files (`rollout-….jsonl`), and what its `exec` prints.

A session is lines of `{"timestamp", "type", "payload"}`, in early versions bare items of the
Responses API; a list of such items, or `{"items": [...]}`, is read too, and so are printed lines in
`{"events": [...]}`: each such record is a conversation. A session of a sub-agent has no user.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from msgspec.structs import replace

from harness.importers.record_fields import ID_ENTRIES, field_text, named_outcomes, without
from harness.importers.recorded_failures import read_outage, status_of
from harness.messages.codex_lines import CodexLines, holds_item, is_rollout_line
from harness.messages.codex_prints import CodexPrints, is_printed_line
from harness.messages.codex_texts import unwrap_output
from harness.messages.turn_building import TurnBuilder
from harness.types.imports import ForeignSource, Head, Imported, Unreadable
from harness.types.trajectories import Usage

_PASSED_ON = "internal_chat_message_metadata_passthrough"
_LISTS = ("items", "events")
_FIRST = 50


@dataclass(frozen=True, slots=True)
class Codex:
    """Sessions of Codex, and what it prints: one conversation a file."""

    specification: ClassVar[str] = "Codex CLI of 2025 and 2026: session files, `exec --json`"

    def claims(self, head: Head) -> bool:
        """Say whether the first lines are of a session, or are printed."""
        values = [line for value in head.values for line in _first_lines(value)]
        return any(
            is_rollout_line(value) or is_printed_line(value) or _is_own_item(value)
            for value in values
        ) or _is_early(head.values)

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return the conversation of the file, or one for each record that holds a list.

        Raises:
            ValueError: a record holds no line of a session, and none that is printed.
        """
        lines: list[Any] = []
        alone = True
        for place, value in source.values(lenient=True):
            for item in value if isinstance(value, list) else [value]:
                held = _held(item)
                if held is None:
                    lines.append(_line(item))
                else:
                    alone = False
                    yield _read_lines(place, held, item)
        if lines or alone:
            yield _read_lines(source.shown, lines, {})


def _held(value: Any) -> list[Any] | None:
    """Return the list that a record holds; None for a line."""
    if not isinstance(value, Mapping) or "type" in value:
        return None
    lists = (value.get(key) for key in _LISTS)
    return next((found for found in lists if isinstance(found, list)), None)


def _first_lines(value: Any) -> list[Any]:
    rows = value[:_FIRST] if isinstance(value, list) else [value]
    held = [_held(row) for row in rows]
    lines = [row for row, inner in zip(rows, held, strict=True) if inner is None]
    return [*lines, *(line for inner in held if inner for line in inner[:_FIRST])]


def _read_lines(place: str, lines: list[Any], around: Mapping[str, Any]) -> Imported:
    if any(map(is_printed_line, lines)):
        found = _read_prints(place, lines)
    elif any(is_rollout_line(line) or holds_item(line) for line in lines):
        found = _read_session(place, lines)
    else:
        raise ValueError(f"{place}: no line is of Codex")
    return replace(
        found,
        sample_id=field_text(around, ID_ENTRIES),
        outcomes=named_outcomes(around),
        fields={**without(around, *_LISTS), **found.fields},
    )


def _line(value: Any) -> Any:
    if isinstance(value, Unreadable):
        # Kept as a line that is not understood.
        return [{"text": value.text, "problem": value.problem}]
    return value


def _is_own_item(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    output = value.get("output")
    is_wrapped = isinstance(output, str) and unwrap_output(output) is not None
    return _PASSED_ON in value or (value.get("type") == "function_call_output" and is_wrapped)


def _is_early(values: tuple[Any, ...]) -> bool:
    first = values[0] if values else None
    signs = {"id", "timestamp", "instructions"}
    return isinstance(first, Mapping) and first.keys() >= signs and "type" not in first


def _read_session(place: str, lines: list[Any]) -> Imported:
    builder = TurnBuilder()
    reader = CodexLines(builder, has_items=any(map(holds_item, lines)))
    try:
        for line in lines:
            reader.add(line)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    failure = None if reader.failed is None else read_outage(reader.failed)
    return Imported(
        place=place,
        trajectory=builder.trajectory(),
        model=reader.model,
        status=status_of(failure),
        failure=failure,
        fields=reader.head,
        unread=builder.unread,
        usage=None if reader.usage == Usage() else reader.usage,
    )


def _read_prints(place: str, lines: list[Any]) -> Imported:
    builder = TurnBuilder()
    reader = CodexPrints(builder)
    try:
        for line in lines:
            reader.add(line)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    reader.end()
    failure = None if reader.failed is None else read_outage(reader.failed)
    return Imported(
        place=place,
        trajectory=builder.trajectory(),
        status=status_of(failure),
        failure=failure,
        fields={"thread_id": reader.thread} if reader.thread else {},
        unread=builder.unread,
        usage=None if reader.usage == Usage() else reader.usage,
    )
