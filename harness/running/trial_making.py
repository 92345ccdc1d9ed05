"""A trial made of what driving and grading gave."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from harness.grading.judging import grade_trajectory
from harness.grading.trial_scores import has_grading_error, judge_trial
from harness.loading.sample_slices import slices_of
from harness.running.driving import Driven, Underway, failure_of
from harness.running.plans import PlannedTrial
from harness.system.clock import monotonic
from harness.types.errors import TargetError
from harness.types.grades import Grade
from harness.types.samples import Sample
from harness.types.suites import GraderSpec, Suite
from harness.types.trials import (
    INTERRUPTED,
    Failure,
    Keys,
    Slices,
    Timing,
    Trial,
    TrialFacts,
    TrialStatus,
)

_UNJUDGED = frozenset({"target_error", INTERRUPTED})


async def graded_trial(
    suite: Suite, task: PlannedTrial, driven: Driven, started_at: datetime
) -> Trial:
    """Grade what was driven, and give the trial; a trial that was not driven has no grades."""
    started = monotonic()
    grades: dict[str, Grade] = {}
    specs = (*suite.graders, *task.sample.graders)
    if driven.error is None or driven.error.policy.graded:
        grades = await grade_trajectory(
            specs,
            task.sample,
            driven.trajectory,
            snapshots=driven.snapshots,
            limits=suite.limits,
            facts=TrialFacts(model=task.model, usage=driven.usage, seconds=driven.seconds),
        )
    return _trial(suite, task, driven, (specs, grades), (started_at, monotonic() - started))


def interrupted_trial(
    suite: Suite, task: PlannedTrial, underway: Underway, started_at: datetime
) -> Trial | None:
    """Give a trial that the end of the run cut off: what was driven and used, without grades.

    One whose agent had ended badly by then has ended so, and lacks its grades alone. None where
    nothing was driven yet.
    """
    driven = underway.driven
    if driven is None:
        driven = underway.cut_off()
    elif driven.error is None:
        error = TargetError("the run ended before its graders did", code="grading_interrupted")
        driven = msgspec.structs.replace(driven, error=error)
    if driven is None:
        return None
    specs = (*suite.graders, *task.sample.graders)
    return _trial(suite, task, driven, (specs, {}), (started_at, 0.0))


def _trial(
    suite: Suite,
    task: PlannedTrial,
    driven: Driven,
    graded: tuple[Sequence[GraderSpec], dict[str, Grade]],
    timed: tuple[datetime, float],
) -> Trial:
    status = driven.error.policy.status if driven.error else "completed"
    specs, grades = graded
    status, passed, score = judged(suite, specs, grades, status)
    return Trial(
        sample_id=task.sample.id,
        model=task.model,
        epoch=task.epoch,
        status=status,
        passed=passed,
        score=score,
        grades=grades,
        trajectory=driven.trajectory,
        attempts=driven.attempts,
        usage=driven.usage,
        timing=Timing(
            started_at=timed[0],
            target_seconds=driven.seconds,
            waiting_seconds=driven.waiting_seconds,
            grading_seconds=timed[1],
        ),
        error=_failure(driven, specs, grades, status),
        keys=Keys(drive=suite.target.fingerprint if suite.target else "", sample=task.sample_key),
        snapshots=driven.snapshots,
        slices=slices_for(suite, task.sample),
    )


def slices_for(suite: Suite, sample: Sample) -> Slices | msgspec.UnsetType:
    """Return the slices of a trial's sample, where the suite slices at all."""
    return slices_of(sample, suite.slices) if suite.slices else msgspec.UNSET


def judged(
    suite: Suite, specs: Sequence[GraderSpec], grades: Mapping[str, Grade], status: TrialStatus
) -> tuple[TrialStatus, bool | None, float | None]:
    """Return a trial's status, verdict and score from how driving ended and from the grades."""
    if status == "agent_failure":
        return status, False, 0.0
    if status in _UNJUDGED:
        return status, None, None
    passed, score = judge_trial(specs, grades, suite.scoring)
    if passed is None and has_grading_error(specs, grades):
        return "grading_error", None, None
    return "completed", passed, score


def _failure(
    driven: Driven, specs: Sequence[GraderSpec], grades: Mapping[str, Grade], status: TrialStatus
) -> Failure | None:
    if driven.error is not None:
        return failure_of(driven.error)
    if status == "grading_error":
        return grading_failure(specs, grades)
    return None


def grading_failure(specs: Sequence[GraderSpec], grades: Mapping[str, Grade]) -> Failure:
    """Say which of the graders that decide broke."""
    broken_ones = {
        spec.name: grades[spec.name]
        for spec in specs
        if spec.role != "observed" and grades[spec.name].status == "error"
    }
    codes = {str(grade.details.get("code", "grader_broke")) for grade in broken_ones.values()}
    code = min(codes, default="grader_broke")
    told = {name: one.evidence.removeprefix(f"{code}: ") for name, one in broken_ones.items()}
    return Failure(code=code, message="; ".join(f"{name}: {said}" for name, said in told.items()))
