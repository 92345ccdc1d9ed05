import pytest
from fakes.factories import make_grader

from harness.grading.trial_scores import has_grading_error, judge_trial, weighted_mean
from harness.system.numbers import reaches
from harness.types.grades import Grade
from harness.types.suites import Scoring


def given(*rows):
    """Make specs and grades of (role, weight, score, passed); score None is skipped or an error."""
    specs, grades = [], {}
    for number, (role, weight, score, passed) in enumerate(rows):
        name = f"g{number}"
        specs.append(make_grader("contains", name=name, role=role, weight=weight))
        status = "graded" if score is not None else passed
        passed_too = passed if score is not None else None
        grades[name] = Grade(score=score, passed=passed_too, status=status)
    return specs, grades


@pytest.mark.parametrize(
    ("rows", "threshold", "expected"),
    [
        ([("required", 1, 1.0, True), ("required", 1, 1.0, True)], None, (True, 1.0)),
        ([("required", 1, 1.0, True), ("required", 9, 0.0, False)], None, (False, 0.1)),
        ([("required", 0, 0.0, False), ("scored", 1, 1.0, True)], 0.5, (False, 1.0)),
        ([("scored", 1, 1.0, True)] * 9 + [("scored", 1, 0.0, False)], 0.9, (True, 0.9)),
        ([("scored", 0.1, 0.7, False)] * 3, 0.7, (True, 0.7)),
        ([("scored", 1, 1.0, True), ("scored", 0.5, 0.0, False)], 0.7, (False, 2 / 3)),
        ([("scored", 1, 1.0, True), ("observed", 1, 0.0, False)], 1.0, (True, 1.0)),
        ([("required", 1, 1.0, True), ("observed", 1, None, "error")], None, (True, 1.0)),
        ([("required", 1, 1.0, True), ("required", 1, None, "skipped")], None, (True, 1.0)),
        ([("required", 1, 1.0, True), ("required", 1, None, "error")], None, (None, None)),
        ([("required", 1, 1.0, True), ("scored", 1, None, "error")], 0.1, (None, None)),
        ([("required", 1, None, "skipped")], None, (None, None)),
        ([("observed", 1, 1.0, True)], None, (None, None)),
        ([], None, (None, None)),
        ([("scored", 1, 0.0, False), ("scored", 1, 1.0, True)], None, (False, 0.5)),
        ([("required", 1, 1.0, True), ("scored", 1, 0.0, False)], None, (True, 0.5)),
        ([("scored", 0, 1.0, True), ("scored", 0, 0.0, False)], 0.5, (True, 0.5)),
        ([("scored", 1e308, 1.0, True), ("scored", 1e308, 0.0, False)], 0.5, (True, 0.5)),
    ],
)
def test_a_trial_is_judged_by_roles_weights_and_threshold(rows, threshold, expected):
    passed, score = judge_trial(*given(*rows), Scoring(threshold=threshold))
    assert passed is expected[0]
    assert score == (None if expected[1] is None else pytest.approx(expected[1], abs=1e-15))


@pytest.mark.parametrize(
    ("role", "status", "expected"),
    [
        ("required", "error", True),
        ("scored", "error", True),
        ("observed", "error", False),
        ("required", "skipped", False),
    ],
)
def test_only_a_grader_that_decides_can_break_a_trial(role, status, expected):
    assert (
        has_grading_error(*given((role, 1, None, status), ("required", 1, 1.0, True))) is expected
    )


def test_a_threshold_met_but_for_rounding_is_met_and_a_miss_is_a_miss():
    assert reaches(sum([0.1] * 3) / 3 * 7, 0.7)
    assert reaches(weighted_mean([1.0] * 9 + [0.0]), 0.9)
    assert not reaches(0.899999, 0.9)
