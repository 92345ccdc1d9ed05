"""The course of a judgement: which turn is shown, what is extracted, what the grader is asked.

A judgement is a generator that yields the calls it needs, is sent their answers, and returns the
grade; how and when a call is made is not its business.
"""

from collections.abc import Generator, Mapping
from typing import Any

import msgspec

from harness.grading.broken_graders import broken
from harness.grading.per_turn import joined
from harness.grading.single_calls import Answer, Call, Extraction, Judging
from harness.grading.turn_views import View, cut, graded_by_turn, moved_back, never_reached
from harness.types.code import CustomGrader
from harness.types.grades import Grade
from harness.types.protocols import Subject, Submission
from harness.types.suites import GraderSpec

NO_MESSAGES = "Empty trajectory - agent produced no messages"
NO_SUBMISSION = "Empty submission - extractor found no content"
Judgement = Generator[Call, Answer, Grade]


def judge(spec: GraderSpec, whole: View, snapshots: Mapping[str, Any]) -> Judgement:
    """Judge a conversation with one grader: whole, one turn of it, or turn by turn."""
    if spec.turn is not None:
        return (yield from _judge_turn(spec, whole, spec.turn, snapshots))
    custom = isinstance(spec.grader, CustomGrader)
    if graded_by_turn(whole.sample) and (custom or spec.grader.reads == "submission"):
        grades = []
        for turn in range(len(whole.sample.turns)):
            grade = yield from _judge_turn(spec, whole, turn, snapshots)
            grades.append(grade)
        return joined(grades, spec.threshold)
    return (yield from _judge_view(spec, whole, snapshots))


def _judge_turn(
    spec: GraderSpec, whole: View, turn: int, snapshots: Mapping[str, Any]
) -> Judgement:
    view = cut(whole.sample, whole.trajectory, turn)
    if view is None or view.turn is None:
        return Grade(score=0.0, passed=False, evidence=never_reached(turn, whole.trajectory))
    grade = yield from _judge_view(spec, view, snapshots)
    return _rebuilt(grade, refs=moved_back(grade.refs, view.turn)) if grade.refs else grade


def _judge_view(spec: GraderSpec, view: View, snapshots: Mapping[str, Any]) -> Judgement:
    if spec.grader.reads == "trajectory":
        subject = Subject(view.sample, view.trajectory, None, snapshots)
        return _only_grade((yield Judging(spec.grader, subject)))
    if view.silent:
        return Grade(score=0.0, passed=False, evidence=NO_MESSAGES, submission="")
    if spec.extractor is None:
        return broken("grader_broke", "the grader has no extractor")
    submission = yield Extraction(spec.extractor, view.trajectory, view.turn)
    if isinstance(submission, Grade):
        return submission
    if not submission.text:
        return Grade(
            score=0.0, passed=False, evidence=NO_SUBMISSION, refs=submission.refs, submission=""
        )
    subject = Subject(view.sample, view.trajectory, submission, snapshots)
    grade = _only_grade((yield Judging(spec.grader, subject)))
    return _rebuilt(grade, refs=grade.refs or submission.refs, submission=submission.text)


def _only_grade(answer: Answer) -> Grade:
    if isinstance(answer, Submission):
        raise TypeError("a grader was answered with a submission")
    return answer


def _rebuilt(grade: Grade, **changes: Any) -> Grade:
    return msgspec.structs.replace(grade, **changes)
