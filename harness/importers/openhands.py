"""OpenHands: events of 0.x (OpenDevin included) and of the SDK (1.x).

A source is a list of events, one a line (`events.jsonl`), a folder with a file an event
(`event-00000-….json`), or a record of an evaluation (`output.jsonl`) that holds them in `history`,
with `instance_id`, `test_result` and `error` beside.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.importers.record_fields import ID_ENTRIES, field_text, named_outcomes, without
from harness.importers.recorded_failures import read_outage, status_of
from harness.messages.openhands_events import OpenHandsEvents, is_event
from harness.messages.openhands_sdk import OpenHandsSdkEvents, is_sdk_event
from harness.messages.turn_building import TurnBuilder
from harness.types.imports import ForeignSource, Head, Imported, Unreadable
from harness.types.trajectories import Usage
from harness.types.trials import Failure

_LISTS = ("history", "trajectory", "events")
_FILE = re.compile(r"event-\d{1,9}-.*\.json")
_AGENTS_FAULT = re.compile(r"max(imum)?[ _]?iteration|stuck|loop", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class OpenHands:
    """Events of OpenHands and its SDK: one conversation a file, a record or a folder of events."""

    specification: ClassVar[str] = "OpenHands events, 0.x; OpenHands SDK events, 1.x"

    def claims(self, head: Head) -> bool:
        """Say whether the first records are events, or hold them, or a folder has one a file."""
        if head.files:
            shown = [name for name in head.files if not name.startswith(".")]
            return bool(shown) and all(map(_FILE.fullmatch, shown))
        rows = [row for value in head.values for row in _rows(value)[:1]]
        return any(map(_is_any_event, rows[:5])) or any(_held(row) is not None for row in rows[:1])

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return the conversation of the events, or of each record that holds some.

        Raises:
            ValueError: there are no events.
        """
        events: list[Any] = []
        alone = True
        for place, value in source.values(lenient=True):
            for row in _rows(value):
                held = _held(row)
                if held is None:
                    events.append(row)
                else:
                    alone = False
                    yield _read_events(place, held, row)
        if events or alone:
            yield _read_events(source.shown, events, {})


def _rows(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _is_any_event(value: Any) -> bool:
    return is_event(value) or is_sdk_event(value)


def _held(value: Any) -> list[Any] | None:
    """Return the events that a record holds; None where it is none."""
    if not isinstance(value, Mapping) or _is_any_event(value):
        return None
    for key in _LISTS:
        rows = value.get(key)
        first = rows[0] if isinstance(rows, list) and rows else None
        inner = first[0] if isinstance(first, list) and first else first
        if isinstance(rows, list) and _is_any_event(inner):
            return rows
    # An evaluation that broke at once has no events.
    broke = isinstance(value.get("history"), list) and not value["history"]
    return [] if broke and "test_result" in value else None


def _read_events(place: str, events: list[Any], around: Mapping[str, Any]) -> Imported:
    if events and not any(_is_any_event(row) for event in events for row in _rows(event)):
        raise ValueError(f"{place}: these are no events of OpenHands")
    if not events and not around:
        raise ValueError(f"{place}: there are no events of OpenHands")
    builder = TurnBuilder()
    of_sdk = any(map(is_sdk_event, events))
    reader = OpenHandsSdkEvents(builder) if of_sdk else OpenHandsEvents(builder)
    try:
        for event in events:
            reader.add(_plain(event))
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    failure = _failure(around.get("error") or reader.failed)
    usage = reader.usage
    return Imported(
        place=place,
        trajectory=builder.trajectory(),
        sample_id=field_text(around, reversed(ID_ENTRIES)),
        model=_model(around) or reader.model,
        status=status_of(failure),
        failure=failure,
        outcomes=_outcomes(around),
        fields=without(around, *_LISTS),
        unread=builder.unread,
        usage=None if usage == Usage() else usage,
    )


def _plain(event: Any) -> Any:
    if isinstance(event, Unreadable):
        return {"text": event.text, "problem": event.problem}
    return event


def _failure(error: Any) -> Failure | None:
    if not error:
        return None
    failure = read_outage(error)
    is_agents = _AGENTS_FAULT.search(failure.message[:1_000]) is not None
    return Failure(code="max_steps", message=failure.message) if is_agents else failure


def _model(record: Mapping[str, Any]) -> str | None:
    for holder, key in (("metadata", "llm_config"), ("metadata", "llm")):
        outer = record.get(holder)
        inner = outer.get(key) if isinstance(outer, Mapping) else None
        if isinstance(inner, Mapping) and (found := field_text(inner, ["model"])):
            return found
    return None


def _outcomes(record: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    result = record.get("test_result")
    report = result.get("report") if isinstance(result, Mapping) else None
    for holder in (report, result, record):
        if isinstance(holder, Mapping):
            found |= named_outcomes(holder)
    return found
