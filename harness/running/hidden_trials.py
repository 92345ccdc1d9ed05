"""What is graded and stored of a trial, without the values of secrets.

Names stay as they are: of samples, models, graders and fixtures.
"""

from typing import Any

import msgspec
from msgspec.structs import replace

from harness.messages.hidden_texts import trajectory_without
from harness.running.driving import Driven
from harness.system.secret_values import Secrets
from harness.types.grades import Grade
from harness.types.trajectories import Trajectory
from harness.types.trials import Attempt, Failure, Slices, Trial

_encode = msgspec.json.Encoder().encode


def driven_without(secrets: Secrets, driven: Driven) -> Driven:
    """Return what driving gave without secrets, before any grader sees it."""
    if not secrets:
        return driven
    trajectory, snapshots = told_without(secrets, driven.trajectory, driven.snapshots)
    if trajectory is driven.trajectory and snapshots is driven.snapshots:
        return driven
    return replace(driven, trajectory=trajectory, snapshots=snapshots)


def told_without(
    secrets: Secrets, trajectory: Trajectory, snapshots: dict[str, Any]
) -> tuple[Trajectory, dict[str, Any]]:
    """Return the trajectory and the end states of a trial without secrets."""
    trajectory = trajectory_without(secrets, trajectory)
    if not snapshots:
        return trajectory, snapshots
    hidden = {name: secrets.hide_json(state) for name, state in snapshots.items()}
    return trajectory, snapshots if hidden == snapshots else hidden


def trial_without(secrets: Secrets, trial: Trial, *, told: bool = True) -> Trial:
    """Return a trial without secrets.

    Where `told` is false, its trajectory and end states hold none already: looked at is what
    graders say, and errors.
    """
    if not secrets:
        return trial
    if trial.slices:
        trial = replace(trial, slices=_slices(secrets, trial.slices))
    if told:
        trajectory, snapshots = told_without(secrets, trial.trajectory, trial.snapshots)
        trial = replace(trial, trajectory=trajectory, snapshots=snapshots)
        trial = replace(trial, **_own_sample(secrets, trial))
    grades, attempts, error = trial.grades, trial.attempts, trial.error
    failures = [error, *(attempt.error for attempt in attempts)]
    if not (
        any(_grade_holds(secrets, grade) for grade in grades.values())
        or any(failure and secrets.stand_in(failure.message) for failure in failures)
    ):
        return trial
    return replace(
        trial,
        grades={name: _grade(secrets, grade) for name, grade in grades.items()},
        attempts=tuple(_attempt(secrets, attempt) for attempt in attempts),
        error=_failure(secrets, error),
    )


def _slices(secrets: Secrets, slices: Slices) -> Slices:
    return {name: tuple(map(secrets.hide, values)) for name, values in slices.items()}


def _grade_holds(secrets: Secrets, grade: Grade) -> bool:
    if secrets.stand_in(grade.evidence) or (
        grade.submission and secrets.stand_in(grade.submission)
    ):
        return True
    try:
        return bool(grade.details) and secrets.are_in(_encode(grade.details))
    except (UnicodeEncodeError, OverflowError, TypeError, msgspec.MsgspecError):
        return True  # what has no JSON form is looked at text by text


def _grade(secrets: Secrets, grade: Grade) -> Grade:
    return replace(
        grade,
        evidence=secrets.hide(grade.evidence),
        submission=None if grade.submission is None else secrets.hide(grade.submission),
        details=secrets.hide_json(grade.details),
    )


def _attempt(secrets: Secrets, attempt: Attempt) -> Attempt:
    return replace(attempt, error=_failure(secrets, attempt.error))


def _failure(secrets: Secrets, failure: Failure | None) -> Failure | None:
    return failure and replace(failure, message=secrets.hide(failure.message))


def _own_sample(secrets: Secrets, trial: Trial) -> dict[str, Any]:
    sample = trial.sample
    if isinstance(sample, msgspec.UnsetType):
        return {}
    # Its names stay; everything else is what somebody wrote, or an agent said.
    fields = {name: getattr(sample, name) for name in sample.__struct_fields__}
    kept = {name: _shown(secrets, value) for name, value in fields.items() if name != "graders"}
    return {"sample": replace(sample, **{**kept, "id": sample.id})}


def _shown(secrets: Secrets, value: Any) -> Any:
    shown = secrets.hide_json(value)
    return tuple(shown) if isinstance(value, tuple) else shown
