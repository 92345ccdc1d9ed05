"""Combinations as arithmetic on grades, and what breaks them."""

import pytest

from graders.combinations import AllOf, AnyOf, Not
from harness.types.grades import Grade, Ref

GOOD = Grade(score=1.0, passed=True, evidence="good", refs=(Ref(turn=0, event=1),))
HALF = Grade(score=0.5, passed=True, evidence="half", refs=(Ref(turn=0, event=2),))
LOW = Grade(score=0.5, passed=False, evidence="low")
BAD = Grade(score=0.0, passed=False, evidence="bad", refs=(Ref(turn=0, event=3),))
SKIPPED = Grade(status="skipped", evidence="does not apply")
BROKEN = Grade(status="error", evidence="grader_broke: it broke", details={"code": "grader_broke"})


def combined(grader, *grades):
    return grader.combine({f"g{i}": grade for i, grade in enumerate(grades)})


@pytest.mark.parametrize(
    ("grader", "grades", "expected"),
    [
        (AllOf(graders=()), (GOOD, HALF), (0.5, True)),
        (AllOf(graders=()), (GOOD, LOW), (0.5, False)),
        (AllOf(graders=()), (GOOD, BAD), (0.0, False)),
        (AllOf(graders=()), (GOOD, SKIPPED), (1.0, True)),
        (AllOf(graders=()), (BAD, BROKEN), (0.0, False)),
        (AnyOf(graders=()), (BAD, HALF), (0.5, True)),
        (AnyOf(graders=()), (BAD, LOW), (0.5, False)),
        (AnyOf(graders=()), (BAD, GOOD), (1.0, True)),
        (AnyOf(graders=()), (GOOD, BROKEN), (1.0, True)),
        (AnyOf(graders=()), (SKIPPED, BAD), (0.0, False)),
        (Not(grader={}), (GOOD,), (0.0, False)),
        (Not(grader={}), (HALF,), (0.5, False)),
        (Not(grader={}), (BAD,), (1.0, True)),
    ],
)
def test_score_and_verdict_are_made_of_those_of_the_parts(grader, grades, expected):
    made = combined(grader, *grades)
    assert (made.status, made.score, made.passed) == ("graded", *expected)


@pytest.mark.parametrize(
    ("grader", "grades", "status"),
    [
        # What broke could have lowered the score further, or decided otherwise.
        (AllOf(graders=()), (LOW, BROKEN), "error"),
        (AllOf(graders=()), (GOOD, BROKEN), "error"),
        (AnyOf(graders=()), (HALF, BROKEN), "error"),
        (AnyOf(graders=()), (BAD, BROKEN), "error"),
        (Not(grader={}), (BROKEN,), "error"),
        (AllOf(graders=()), (SKIPPED, SKIPPED), "skipped"),
        (AnyOf(graders=()), (SKIPPED,), "skipped"),
        (Not(grader={}), (SKIPPED,), "skipped"),
        (AllOf(graders=()), (SKIPPED, BROKEN), "error"),
    ],
)
def test_what_broke_or_does_not_apply_is_no_score(grader, grades, status):
    made = combined(grader, *grades)
    assert (made.status, made.score, made.passed) == (status, None, None)


def test_evidence_names_every_part_and_what_it_found():
    made = combined(AllOf(graders=()), GOOD, BAD, SKIPPED)
    assert made.evidence == "1/2 graders passed: g0 ✓ good; g1 ✗ bad; g2 - does not apply"
    assert list(made.details["parts"]) == ["g0", "g1", "g2"]


def test_what_decided_is_pointed_at_first():
    assert combined(AllOf(graders=()), GOOD, BAD).refs == (*BAD.refs, *GOOD.refs)
    assert combined(AnyOf(graders=()), BAD, GOOD).refs == (*GOOD.refs, *BAD.refs)


def test_a_broken_part_is_named_with_its_code():
    made = combined(AnyOf(graders=()), BAD, BROKEN)
    assert made.evidence == "grader_broke: g1: it broke"
    assert made.details["code"] == "grader_broke"
