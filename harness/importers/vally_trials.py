"""One trial of Vally: its record comes in, a conversation goes out.

The sample is the stimulus, the epoch the index of the trial. Outcomes are `passed` and `score` of
the trial, and by its name the score of each grader, or whether it passed.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from harness.importers.record_fields import (
    MODEL_ENTRIES,
    field_seconds,
    field_text,
    is_outcome,
    named_outcomes,
    without,
)
from harness.messages.copilot_events import read_token_usage
from harness.messages.vally_events import is_vally_event, read_vally_events
from harness.types.imports import Imported
from harness.types.suites import MOST_EPOCHS
from harness.types.trajectories import Trajectory, Usage
from harness.types.trials import Failure

_MILLISECONDS = 1000
_SIGNS = ("metrics", "output", "workDir", "stimulus")


def has_trajectory(record: Mapping[str, Any]) -> bool:
    """Say whether a record holds a trajectory of Vally, as results do."""
    inner = record.get("trajectory")
    return isinstance(inner, Mapping) and is_trajectory(inner)


def is_trajectory(record: Mapping[str, Any]) -> bool:
    """Say whether a record is a trajectory of Vally."""
    events = record.get("events")
    if not isinstance(events, list) or not any(sign in record for sign in _SIGNS):
        return False
    return not events or is_vally_event(events[0])


def read_trial(record: Mapping[str, Any], place: str) -> Imported:
    """Read a result.

    Raises:
        ValueError: its trajectory is none; the text begins with the place.
    """
    told = record.get("trajectory")
    if told is not None and not isinstance(told, Mapping):
        raise ValueError(f"{place}: trajectory must be an object or null")
    trajectory = told or {}
    read = _conversation(trajectory, place)
    status = record.get("status")
    failed = Failure(code="target_broke", message=_words(record.get("error")) or "not told")
    skipped = _words(record.get("skipReason")) or "no reason is told"
    return Imported(
        place=place,
        sample_id=_stimulus(record) or _stimulus(trajectory),
        model=field_text(record, MODEL_ENTRIES) or _model(trajectory),
        epoch=_epoch(record.get("trialIndex")),
        status="target_error" if status == "error" else "completed",
        failure=failed if status == "error" else None,
        skipped=skipped if status == "skipped" else None,
        seconds=field_seconds(record, "durationMs", per_second=_MILLISECONDS),
        outcomes=dict(_outcomes(record)),
        fields={**record, "trajectory": without(trajectory, "events")},
        **read,
    )


def read_vally(trajectory: Mapping[str, Any], place: str) -> Imported:
    """Read a trajectory by itself.

    Raises:
        ValueError: its events are none; the text begins with the place.
    """
    return Imported(
        place=place,
        sample_id=_stimulus(trajectory),
        model=_model(trajectory),
        fields=without(trajectory, "events"),
        **_conversation(trajectory, place),
    )


def _conversation(trajectory: Mapping[str, Any], place: str) -> dict[str, Any]:
    events = trajectory.get("events")
    if events is not None and not isinstance(events, list):
        raise ValueError(f"{place}: events must be a list")
    turns = read_vally_events(events or [], trajectory.get("output"))
    return {
        "trajectory": Trajectory(turns=turns.turns()),
        "prompts": _prompts(trajectory.get("stimulus")),
        "usage": _usage(trajectory.get("metrics")),
        "unread": turns.unread,
    }


def _usage(metrics: Any) -> Usage | None:
    told = metrics.get("tokenUsage") if isinstance(metrics, Mapping) else None
    usage = read_token_usage(told) if isinstance(told, Mapping) else Usage()
    return None if usage == Usage() else usage


def _prompts(stimulus: Any) -> tuple[str, ...]:
    """Return the prompts of a stimulus: its turns, texts or objects, else its one prompt."""
    if not isinstance(stimulus, Mapping):
        return ()
    turns = stimulus.get("turns")
    told = turns if isinstance(turns, list) and turns else [stimulus.get("prompt")]
    texts = [one.get("prompt") if isinstance(one, Mapping) else one for one in told]
    return tuple(t for t in texts if isinstance(t, str)) if all(texts) else ()


def _stimulus(record: Mapping[str, Any]) -> str | None:
    stimulus = record.get("stimulus")
    if isinstance(stimulus, Mapping):
        return field_text(stimulus, ("name",))
    return field_text(record, ("stimulus", "stimulusName"))


def _model(trajectory: Mapping[str, Any]) -> str | None:
    metadata = trajectory.get("metadata")
    return field_text(metadata, MODEL_ENTRIES) if isinstance(metadata, Mapping) else None


def _epoch(index: Any) -> int | None:
    if isinstance(index, bool) or not isinstance(index, int):
        return None
    return index if 0 <= index < MOST_EPOCHS else None


def _words(error: Any) -> str:
    if isinstance(error, Mapping):
        return field_text(error, ("message", "type", "code")) or ""
    return error if isinstance(error, str) else ""


def _outcomes(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    grade = record.get("gradeResult", record.get("grade"))
    if not isinstance(grade, Mapping):
        return
    yield from named_outcomes(grade, ("passed", "score")).items()
    details = grade.get("details")
    for detail in details if isinstance(details, list) else []:
        if isinstance(detail, Mapping) and detail.get("status") != "error":
            name = field_text(detail, ("name", "configuredName"))
            value = detail.get("score", detail.get("passed"))
            if name is not None and is_outcome(value):
                yield (name if name not in ("passed", "score") else f"details.{name}"), value
