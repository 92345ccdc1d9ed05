"""The trials of a run as the rows of a table: trials come in, cells go out."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from harness.types.events import AssistantMessage, ToolCall, UserMessage
from harness.types.grades import Grade
from harness.types.trials import Trial

COLUMNS: Mapping[str, type] = MappingProxyType(
    {
        "sample_id": str,
        "model": str,
        "epoch": int,
        "status": str,
        "passed": bool,
        "score": float,
        "error": str,
        "started_at": str,
        "seconds": float,
        "input_tokens": int,
        "output_tokens": int,
        "cost_usd": float,
        "turns": int,
        "tool_calls": int,
        "prompt": str,
        "answer": str,
    }
)
"""The columns of every table with the types of their cells; any cell may be empty."""

_OF_GRADERS: Mapping[str, type] = MappingProxyType(
    {"score": float, "passed": bool, "status": str, "evidence": str}
)


def grader_names(trials: Iterable[Trial]) -> tuple[str, ...]:
    """Return the names of all grades, in the order in which they come."""
    names: dict[str, None] = {}
    for trial in trials:
        names.update(dict.fromkeys(trial.grades))
    return tuple(names)


def all_columns(graders: Iterable[str]) -> dict[str, type]:
    """Return the columns of a table: `<name>.score` and so on for each grader."""
    of_graders = {f"{name}.{what}": kind for name in graders for what, kind in _OF_GRADERS.items()}
    return {**COLUMNS, **of_graders}


def trial_row(trial: Trial, graders: Iterable[str]) -> dict[str, Any]:
    """Return the cells of a trial by column; None for what it has not."""
    said = [event.text for event in trial.trajectory.events() if isinstance(event, UserMessage)]
    # A record of another tool may not say when, nor how long.
    timed = trial.timing if trial.attempts or trial.timing.target_seconds else None
    row = {
        "sample_id": trial.sample_id,
        "model": trial.model,
        "epoch": trial.epoch,
        "status": trial.status,
        "passed": trial.passed,
        "score": trial.score,
        "error": f"{trial.error.code}: {trial.error.message}" if trial.error else None,
        "started_at": timed.started_at.isoformat() if timed else None,
        "seconds": timed.target_seconds if timed else None,
        "input_tokens": trial.usage.input_tokens,
        "output_tokens": trial.usage.output_tokens,
        "cost_usd": trial.usage.cost_usd,
        "turns": len(trial.trajectory.turns),
        "tool_calls": sum(isinstance(event, ToolCall) for event in trial.trajectory.events()),
        "prompt": said[0] if said else None,
        "answer": _answer(trial),
    }
    for name in graders:
        row.update(_grade_cells(name, trial.grades.get(name)))
    return row


def _answer(trial: Trial) -> str | None:
    events = trial.trajectory.events()
    said = [event.text for event in events if isinstance(event, AssistantMessage) and event.text]
    return said[-1] if said else None


def _grade_cells(name: str, grade: Grade | None) -> Iterator[tuple[str, Any]]:
    for what in _OF_GRADERS:
        yield f"{name}.{what}", None if grade is None else getattr(grade, what)
