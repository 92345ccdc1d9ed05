"""The judgement of a trial: whether it passed, and with what score."""

from collections.abc import Mapping, Sequence

from harness.grading.pass_rules import meets_rule
from harness.system.numbers import reaches
from harness.system.weighted_means import weighted_mean
from harness.types.grades import Grade
from harness.types.suites import GraderSpec, Scoring


def has_grading_error(specs: Sequence[GraderSpec], grades: Mapping[str, Grade]) -> bool:
    """Say whether a grader that decides could not judge, so that the trial cannot be judged."""
    return any(spec.role != "observed" and grades[spec.name].status == "error" for spec in specs)


def judge_trial(
    specs: Sequence[GraderSpec], grades: Mapping[str, Grade], scoring: Scoring
) -> tuple[bool | None, float | None]:
    """Return (passed, score) of a trial; (None, None) where a grader broke or nothing was graded.

    The score is the weighted mean of the graders that are not observed. Every required grader
    has to pass; with a threshold the score has to reach it, with a rule the grades have to meet
    it. Without either and without a required grade, every scored one has to pass: a trial never
    passes unchecked. Skipped grades do not count. A grader that cannot work lets no trial pass.
    """
    scores: list[float] = []
    weights: list[float] = []
    required: list[Grade] = []
    scored: list[Grade] = []
    is_faulty = False
    # One loop, for every trial of a run is judged.
    for spec in specs:
        if spec.role == "observed":
            continue
        grade = grades[spec.name]
        if grade.status == "error":
            return None, None
        if grade.score is not None:
            scores.append(grade.score)
            weights.append(float(spec.weight))
            (required if spec.role == "required" else scored).append(grade)
            is_faulty = is_faulty or bool(spec.fault)
    if not scores:
        return None, None
    score = weighted_mean(scores, weights)
    if is_faulty:
        return False, score
    met = None if scoring.rule is None else meets_rule(scoring.rule, grades)
    if scoring.threshold is None and met is None:
        return all(grade.passed for grade in required or scored), score
    reached = scoring.threshold is None or reaches(score, scoring.threshold)
    return all(grade.passed for grade in required) and reached and met is not False, score
