"""A trial made of what driving and grading gave."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from harness.grading.judging import grade_trajectory
from harness.grading.trial_scores import has_grading_error, judge_trial
from harness.running.driving import Driven, failure_of
from harness.running.plans import PlannedTrial
from harness.system.clock import monotonic
from harness.types.grades import Grade
from harness.types.protocols import TrialFacts
from harness.types.suites import GraderSpec, Suite
from harness.types.trials import Failure, Keys, Timing, Trial, TrialStatus


async def graded_trial(
    suite: Suite, task: PlannedTrial, driven: Driven, started_at: datetime
) -> Trial:
    """Grade what was driven, and give the trial; a trial that was not driven has no grades."""
    started = monotonic()
    grades: dict[str, Grade] = {}
    usage = driven.usage
    specs = (*suite.graders, *task.sample.graders)
    if driven.error is None or driven.error.policy.graded:
        grades = await grade_trajectory(
            specs,
            task.sample,
            driven.trajectory,
            snapshots=driven.snapshots,
            limits=suite.limits,
            facts=TrialFacts(model=task.model, usage=usage, seconds=driven.seconds),
        )
    status = driven.error.policy.status if driven.error else "completed"
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
        usage=usage,
        timing=Timing(
            started_at=started_at,
            target_seconds=driven.seconds,
            waiting_seconds=driven.waiting_seconds,
            grading_seconds=monotonic() - started,
        ),
        error=_failure(driven, specs, grades, status),
        keys=Keys(drive=suite.target.fingerprint if suite.target else "", sample=task.sample_key),
        snapshots=driven.snapshots,
    )


def judged(
    suite: Suite, specs: Sequence[GraderSpec], grades: Mapping[str, Grade], status: TrialStatus
) -> tuple[TrialStatus, bool | None, float | None]:
    """Return a trial's status, verdict and score from how driving ended and from the grades."""
    if status == "agent_failure":
        return status, False, 0.0
    if status == "target_error":
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
    message = "; ".join(f"{name}: {grade.evidence}" for name, grade in broken_ones.items())
    codes = {str(grade.details.get("code", "grader_broke")) for grade in broken_ones.values()}
    return Failure(code=min(codes, default="grader_broke"), message=message)
