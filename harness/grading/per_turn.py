"""Per-turn grading: one grade a turn, and the grade of the conversation that they make."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from harness.grading.error_grades import error_grade
from harness.system.numbers import compares
from harness.system.weighted_means import weighted_mean
from harness.types.grades import Grade
from harness.types.suites import GraderSpec
from harness.types.trajectories import Usage


def joined(grades: Sequence[Grade], spec: GraderSpec) -> Grade:
    """Join the grades of all turns: the score is their mean, `details.turns` shows each.

    A turn whose grader broke breaks the whole, and a skipped turn does not count: a
    missing judgement is never a score of 0.
    """
    turns = [_shown(turn, grade, spec) for turn, grade in enumerate(grades)]
    failed = next((turn for turn, grade in enumerate(grades) if grade.status == "error"), None)
    if failed is not None:
        error = grades[failed]
        code = str(error.details.get("code", "grader_broke"))
        message = error.evidence.removeprefix(f"{code}: ")
        whole = error_grade(code, f"turn {failed}: {message}")
        return _with(whole, grades, {**error.details, **whole.details, "turns": turns})
    scores = [grade.score for grade in grades if grade.score is not None]
    if not scores:
        skipped = Grade(status="skipped", evidence=f"turn 0: {grades[0].evidence}")
        return _with(skipped, grades, {"turns": turns})
    marks = " ".join(_mark(turn["passed"]) for turn in turns)
    passed = sum(turn["passed"] is True for turn in turns)
    whole = Grade(score=weighted_mean(scores), evidence=f"{passed}/{len(scores)} passed: {marks}")
    return _with(whole, grades, {"turns": turns})


def _shown(turn: int, grade: Grade, spec: GraderSpec) -> dict[str, Any]:
    passed = grade.passed
    if passed is None and grade.score is not None:
        passed = compares(grade.score, spec.op, spec.threshold)
    shown: dict[str, Any] = {
        "turn": turn,
        "status": grade.status,
        "score": grade.score,
        "passed": passed,
    }
    shown |= {"evidence": grade.evidence, "submission": grade.submission}
    return shown | ({"details": grade.details} if grade.details else {})


def _mark(passed: bool | None) -> str:  # noqa: FBT001  (three values: a skipped turn has None)
    return {True: "✓", False: "✗", None: "-"}[passed]


def _with(whole: Grade, grades: Sequence[Grade], details: dict[str, Any]) -> Grade:
    texts = [grade.submission for grade in grades]
    used = [grade.usage for grade in grades if isinstance(grade.usage, Usage)]
    has_submission = any(text is not None for text in texts)
    shown = " | ".join(f"[Turn {turn}] {text or ''}" for turn, text in enumerate(texts))
    return Grade(
        score=whole.score,
        evidence=whole.evidence,
        status=whole.status,
        refs=tuple(ref for grade in grades for ref in grade.refs),
        submission=shown if has_submission else None,
        details=details,
        usage=sum(used, Usage()) if used else UNSET,
    )
