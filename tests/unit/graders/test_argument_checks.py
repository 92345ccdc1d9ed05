"""Arguments in every spelling in which agents send them."""

import pytest
from fakes.factories import make_sample, read_rows

from graders.argument_checks import ToolArgumentsCheck
from graders.json_comparison import Rule, first_unmatched
from graders.success_rates import ToolSuccessRate
from harness.messages.chat import read_turns
from harness.types.protocols import Subject
from harness.types.trajectories import Trajectory

PAIRS = {row["name"]: row for row in read_rows("graders/pairing_cases.jsonl")}
SPELLINGS = next(row for name, row in PAIRS.items() if name.startswith("arguments-are-not-json"))


def subject_of(messages):
    return Subject(make_sample(), Trajectory(turns=read_turns(messages)))


@pytest.mark.parametrize(
    ("only", "expected", "passed"),
    [
        (0, {"q": "x"}, False),
        (0, '{"q": "x"', True),
        (1, {"q": "x"}, True),
        (2, {"q": "x"}, True),
        (3, {}, True),
        (4, {"q": "y"}, True),
    ],
    ids=["not JSON", "kept as it was", "encoded twice", "an object", "null", "a duplicate key"],
)
def test_arguments_are_compared_however_they_were_sent(only, expected, passed):
    call = SPELLINGS["messages"][0]["tool_calls"][only]
    subject = subject_of([{"role": "assistant", "content": None, "tool_calls": [call]}])
    grade = ToolArgumentsCheck(tools=("a",), arguments=expected).grade(subject)
    assert grade.score == float(passed), grade.evidence


def test_a_call_that_failed_first_lowers_the_success_rate():
    messages = PAIRS["tool-called-twice-first-failed-second-good"]["messages"]
    grade = ToolSuccessRate(tools=("^a$",), min=1.0).grade(subject_of(messages))
    assert (grade.score, grade.passed) == (0.5, False)


@pytest.mark.parametrize(
    ("partners", "alone"),
    [
        ([[0, 1], [0]], None),
        ([[0], [0]], 1),
        ([[0, 1], [0, 2], [0]], None),
        ([[1], [0, 1], [0]], 2),
        ([[]], 0),
        ([], None),
    ],
)
def test_everybody_finds_a_partner_if_that_is_possible(partners, alone):
    assert first_unmatched(len(partners), partners.__getitem__) == alone


def test_large_numbers_are_compared_with_a_tolerance_too():
    rule = Rule(tolerance=1.0)
    assert rule.difference(10**400, 1.5) is not None
    assert rule.difference(10**400, 10**400 + 1) is None
