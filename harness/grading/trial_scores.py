"""The judgement of a trial: whether it passed, and with what score."""

from collections.abc import Mapping, Sequence
from math import fsum

from harness.system.numbers import reaches
from harness.types.grades import Grade
from harness.types.suites import GraderSpec, Scoring


def weighted_mean(scores: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """Average scores in 0..1; weights need not sum to 1, and where all are 0 they count alike."""
    if len(scores) == 1:
        return scores[0]
    most = max(weights, default=0.0) if weights else 0.0
    if not weights or most <= 0.0:
        return fsum(scores) / len(scores)
    # Shares of the largest weight cannot overflow.
    shares = [weight / most for weight in weights]
    return fsum(map(float.__mul__, shares, scores)) / fsum(shares)


def has_grading_error(specs: Sequence[GraderSpec], grades: Mapping[str, Grade]) -> bool:
    """Say whether a grader that decides could not judge, so that the trial cannot be judged."""
    return any(spec.role != "observed" and grades[spec.name].status == "error" for spec in specs)


def judge_trial(
    specs: Sequence[GraderSpec], grades: Mapping[str, Grade], scoring: Scoring
) -> tuple[bool | None, float | None]:
    """Return (passed, score) of a trial; (None, None) where a grader broke or nothing was graded.

    The score is the weighted mean of the graders that are not observed. Every required grader
    has to pass; with a threshold the score has to reach it. Without a threshold and without a
    required grade, every scored one has to pass: a trial never passes unchecked. Skipped
    grades do not count.
    """
    if has_grading_error(specs, grades):
        return None, None
    deciding = [spec for spec in specs if spec.role != "observed"]
    graded = [(spec, grades[spec.name]) for spec in deciding]
    counted = [(spec, grade) for spec, grade in graded if grade.score is not None]
    if not counted:
        return None, None
    score = weighted_mean(
        [grade.score or 0.0 for _, grade in counted], [float(spec.weight) for spec, _ in counted]
    )
    required = [grade for spec, grade in counted if spec.role == "required"]
    if scoring.threshold is None:
        passed = all(grade.passed for grade in required or [grade for _, grade in counted])
    else:
        passed = all(grade.passed for grade in required) and reaches(score, scoring.threshold)
    return passed, score
