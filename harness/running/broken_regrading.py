"""Graders that broke on every trial when a baseline was graded again: which, and how."""

from harness.running.baseline_grading import GradedBaseline
from harness.storing.counted_outcomes import FoundTrials
from harness.types.trials import Trial
from harness.types.verdicts import SuiteVerdict


def broken_again(graded: GradedBaseline, verdict: SuiteVerdict) -> str:
    """Say which graders broke on every trial, so that what decides is not graded; else nothing.

    Each is told with the evidence of one trial.

    Raises:
        StoreError: the run cannot be read.
    """
    is_ungraded = any(_broke(graded, name) for name in verdict.decided_by)
    if verdict.verdict != "invalid" or not is_ungraded:
        return ""
    said = [_said(graded, name) for name in graded.regraded if _broke(graded, name)]
    if not said:
        return ""
    return f"when the baseline was graded again, it broke on every trial: {'; '.join(said)}"


def _broke(graded: GradedBaseline, name: str) -> bool:
    column = graded.side.passes.get(name)
    return column is not None and not any(column.graded) and any(column.errored)


def _said(graded: GradedBaseline, name: str) -> str:
    folder = graded.side.folder
    for line, outcome in graded.side.numbered():
        grade = outcome.grades.get(name)
        if grade is not None and grade[2] == "error":
            trial = FoundTrials(folder, [line]).read(line)
            return f"grader `{name}`{_evidence(trial, name)}"
    return f"grader `{name}`"


def _evidence(trial: Trial, name: str) -> str:
    grade = trial.grades.get(name)
    return f" ({grade.evidence})" if grade is not None and grade.evidence else ""
