"""A foreign record as a trial of ours, without grades but those that it brought along."""

from datetime import UTC, datetime
from typing import Any

import msgspec

from harness.running.plans import sample_key
from harness.system.clock import now
from harness.system.json_values import compact_json
from harness.system.numbers import reaches
from harness.system.texts import cut
from harness.types.grades import RECORDED, SKIPPED, Grade
from harness.types.imports import Imported
from harness.types.samples import Sample
from harness.types.trials import Failure, Keys, Timing, Trial

_SHOWN = 200
_EXIT_NAMES = ("exit_code", "exit_status", "returncode")
_UNTOLD = {"agent_failure": "agent_crash", "target_error": "target_broke"}


def foreign_trial(record: Imported, sample: Sample, *, model: str, epoch: int) -> Trial:
    """Return a record as a trial; its times are those of its events, as far as they are known."""
    started_at, seconds = _times(record)
    status = "completed" if record.status == "grading_error" else record.status
    return Trial(
        sample_id=sample.id,
        model=model,
        epoch=epoch,
        status=status,
        passed=None,
        score=None,
        grades=recorded_grades(record),
        trajectory=record.trajectory,
        attempts=(),
        usage=record.usage or record.trajectory.usage,
        timing=Timing(
            started_at=started_at,
            target_seconds=seconds,
            stated_seconds=record.seconds or msgspec.UNSET,
        ),
        error=None if status == "completed" else record.failure or _untold(status),
        keys=Keys(drive="", sample=sample_key(sample)),
        snapshots=record.snapshots,
    )


def _untold(status: str) -> Failure:
    return Failure(code=_UNTOLD[status], message="the record does not say why")


def _times(record: Imported) -> tuple[datetime, float]:
    times = [_aware(event.at) for event in record.trajectory.events() if event.at is not None]
    if not times:
        return now(), record.seconds or 0.0
    took = (max(times) - min(times)).total_seconds()
    return min(times), took if record.seconds is None else record.seconds


def _aware(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def recorded_grades(record: Imported) -> dict[str, Grade]:
    """Return what a record says of its own result as observed grades, in the order it says it."""
    grades = {
        f"{RECORDED}{name}": recorded_grade(name, value) for name, value in record.outcomes.items()
    }
    if record.skipped is not None:
        grades[SKIPPED] = Grade(
            status="skipped",
            evidence=f"the record says that it was skipped: {record.skipped}",
            details={"value": record.skipped},
        )
    return grades


def recorded_grade(name: str, value: Any) -> Grade:
    """Return an outcome as a grade.

    A truth value and a number in 0..1 are a score. An exit status of 0 is a success, any other
    number a failure. All else is told, and is no score.
    """
    score = _score(name, value)
    evidence = f"the record says {cut(compact_json(value), _SHOWN)}"
    if score is None:
        return Grade(status="skipped", evidence=evidence, details={"value": value})
    return Grade(
        score=score, passed=reaches(score, 1.0), evidence=evidence, details={"value": value}
    )


def _score(name: str, value: Any) -> float | None:
    if isinstance(value, bool):
        return float(value)
    if not isinstance(value, int | float):
        return None
    if name.rpartition(".")[2] in _EXIT_NAMES:
        return float(value == 0)
    return float(value) if 0 <= value <= 1 else None


def grades_brought(trial: Trial) -> dict[str, Grade]:
    """Return the grades that a stored trial has from the record of another tool."""
    return {name: grade for name, grade in trial.grades.items() if name.startswith(RECORDED)}


def is_skipped(trial: Trial) -> bool:
    """Say whether another tool made no trial of it at all."""
    return SKIPPED in trial.grades


def skipped_grade(trial: Trial) -> Grade:
    """Return the grade that every grader gives to a trial that was skipped."""
    return Grade(status="skipped", evidence=trial.grades[SKIPPED].evidence)


def with_sample(trial: Trial, sample: Sample) -> Trial:
    """Let a trial carry its sample, which no dataset holds."""
    return msgspec.structs.replace(trial, sample=sample)
