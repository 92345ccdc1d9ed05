"""Records of Microsoft Vally 0.12 to 0.16, of the Copilot sessions it drives, and of waza.

- `results.jsonl`, or the folder of a run with it: a line `trial-result` is a conversation; its
  verdict and the scores of its graders are outcomes. A trial that was skipped, or that could not be
  run, has no events.
- A trajectory by itself, as executors return it and recordings hold it (an older result around it
  is read as the newer ones are).
- A log of events of a session, one after another in a file: those of Vally, or of Copilot.
- Results and transcripts of waza, which runs the same sessions.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

from harness.importers.record_fields import field_text, is_outcome
from harness.importers.source_files import SourceFolder
from harness.importers.vally_trials import has_trajectory, is_trajectory, read_trial, read_vally
from harness.importers.waza_results import is_waza, read_waza
from harness.messages.copilot_events import CopilotSession, is_copilot_event
from harness.messages.vally_events import is_vally_event, read_vally_events
from harness.types.imports import ForeignSource, Head, Imported
from harness.types.trajectories import Trajectory

_RESULTS = "results.jsonl"
_BESIDE = re.compile(r"eval-results\..+|otel-spans\.jsonl")
_TRIAL = "trial-result"
_SUMMARY = "run-summary"


@dataclass(frozen=True, slots=True)
class Vally:
    """Vally: results and trajectories, logs of Copilot sessions, results of waza."""

    specification: ClassVar[str] = "Vally results and trajectories, 0.12 to 0.16; Copilot events"

    def claims(self, head: Head) -> bool:
        """Say whether the first record is a result or a trajectory, or all are events.

        A folder of a run has `results.jsonl` beside a report or spans.
        """
        if head.files:
            return _RESULTS in head.files and any(map(_BESIDE.fullmatch, head.files))
        first = head.values[0] if head.values else None
        if not isinstance(first, Mapping):
            return False
        is_result = _has_type(first, _TRIAL) or (_has_type(first, _SUMMARY) and "evals" in first)
        is_one = is_result or has_trajectory(first) or is_trajectory(first) or is_waza(first)
        return is_one or _is_log(head.values)

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return a conversation for each trial, or that of the session.

        Raises:
            ValueError: a record is no result, trajectory or event.
        """
        # The folders of a run hold once more what its results hold whole.
        results = source.inside(_RESULTS) if isinstance(source, SourceFolder) else source
        values = results.values() if results else iter(())
        first = next(values, None)
        if first is None:
            return
        if _is_event(first[1]):
            yield _read_log((value for _, value in chain([first], values)), first[0])
            return
        for place, value in chain([first], values):
            if isinstance(value, list) and value and all(map(_is_event, value)):
                yield _read_log(value, place)
            elif isinstance(value, list):
                for index, item in enumerate(value):
                    yield from _read_record(item, f"{place}[{index}]")
            else:
                yield from _read_record(value, place)


def _read_record(record: Any, place: str) -> Iterator[Imported]:
    if isinstance(record, Mapping):
        if _has_type(record, _TRIAL) or has_trajectory(record):
            yield read_trial(record, place)
            return
        if is_waza(record):
            yield from read_waza(record, place)
            return
        if isinstance(record.get("events"), list) or isinstance(record.get("output"), str):
            yield read_vally(record, place)
            return
        if _has_type(record, _SUMMARY):
            return
    raise ValueError(f"{place}: the record is no result and no trajectory of Vally")


def _read_log(events: Iterable[Any], place: str) -> Imported:
    """Read the events of a session; those of Copilot end with what the command says of itself."""
    events = list(events)
    if is_copilot_event(events[0]):
        session = CopilotSession()
        for event in events:
            session.read(event)
        session.finish()
        return Imported(
            place=place,
            trajectory=session.builder.trajectory(),
            model=session.model,
            outcomes=_exit(events[-1]),
            unread=session.builder.unread,
        )
    turns = read_vally_events(events)
    return Imported(place=place, trajectory=Trajectory(turns=turns.turns()), unread=turns.unread)


def _exit(last: Any) -> dict[str, Any]:
    is_result = isinstance(last, Mapping) and last.get("type") == "result"
    code = last.get("exitCode") if is_result else None
    return {"exit_code": code} if is_outcome(code) else {}


def _is_event(value: Any) -> bool:
    return is_copilot_event(value) or is_vally_event(value)


def _is_log(values: Iterable[Any]) -> bool:
    """Say whether the first value is an event, and those behind it have a type too."""
    values = list(values)
    typed = (field_text(value, ("type",)) for value in values if isinstance(value, Mapping))
    return bool(values) and _is_event(values[0]) and all(typed)


def _has_type(record: Mapping[str, Any], kind: str) -> bool:
    return record.get("type") == kind
