"""Combinations judged through the same door as every grader."""

import pytest
from fakes.conversations import read_conversation
from fakes.factories import make_sample

from harness.grading.judging import grade_trajectory
from harness.types.errors import SuiteError
from harness.types.suites import Limits, Suite

CONVERSATION = read_conversation(
    [
        {"user": "Where is it?"},
        {"call": {"track": {"parcel": "P-7"}}},
        {"result": "in Porto"},
        {"assistant": "In Porto."},
        {"user": "And the other?"},
        {"assistant": "I do not know."},
    ]
)
PORTO = {"type": "output-contains", "config": {"substring": "Porto"}}
UNKNOWN = {"type": "output-contains", "config": {"substring": "do not know"}}
TRACKED = {"type": "tool-calls", "config": {"required": ["track"]}}


def suite_of(entry, folder=".", samples=({"id": "s1", "input": "q"},)):
    document = {"name": "t", "samples": list(samples), "graders": {"it": entry}}
    return Suite.from_mapping(document, folder)


async def judged(entry, folder=".", sample=None):
    suite = suite_of(entry, folder)
    given = {"snapshots": {}, "limits": Limits()}
    grades = await grade_trajectory(suite.graders, sample or make_sample(), CONVERSATION, **given)
    return grades["it"]


def combination(kind, *parts, **fields):
    return {"type": kind, "config": {"graders": list(parts)}, **fields}


async def test_parts_are_judged_like_graders_of_the_suite():
    made = await judged(combination("all-of", UNKNOWN, TRACKED))
    assert made.passed is True
    assert made.evidence.startswith("2/2 graders passed: output-contains ✓ Output contains")


async def test_parts_may_be_named_by_a_mapping():
    entry = {"type": "any-of", "config": {"graders": {"here": PORTO, "there": UNKNOWN}}}
    assert list((await judged(entry)).details["parts"]) == ["here", "there"]


async def test_a_turn_of_the_whole_is_that_of_its_parts():
    made = await judged(combination("all-of", PORTO, TRACKED, turn=0))
    assert made.passed is True
    assert {ref.turn for ref in made.refs} == {0}
    assert (await judged(combination("all-of", PORTO, turn=1))).passed is False


async def test_a_part_may_have_a_turn_of_its_own():
    made = await judged(combination("all-of", {**PORTO, "turn": 0}, {**UNKNOWN, "turn": -1}))
    assert made.passed is True
    assert {ref.turn for ref in made.refs} == {0, 1}


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "not", "config": {"grader": PORTO}, "turn": 7},
        {"type": "not", "config": {"grader": {**PORTO, "turn": 7}}},
        combination("all-of", PORTO, turn=7),
        {"type": "not", "config": {"grader": combination("all-of", PORTO)}, "turn": 7},
    ],
)
async def test_a_turn_that_was_never_reached_fails(entry):
    made = await judged(entry)
    assert made.passed is False
    assert made.evidence == "turn 7 was never reached: the conversation has 2 turn(s)"


async def test_combinations_may_be_nested():
    inner = combination("any-of", PORTO, UNKNOWN)
    made = await judged({"type": "not", "config": {"grader": inner}})
    assert (made.score, made.passed) == (0.0, False)


async def test_a_threshold_of_a_part_decides_whether_it_passed():
    rate = {"type": "tool-success-rate", "config": {"min": 0.0}}
    assert (await judged(combination("all-of", rate))).passed is True


async def test_graders_of_a_text_and_functions_are_parts_too(tmp_path):
    code = "def short(sample, submission):\n    return len(submission) < 20\n"
    (tmp_path / "checks.py").write_text(code, encoding="utf-8")
    parts = [
        {"kind": "tool", "function": "checks.py:short"},
        {"kind": "tool", "function": "contains", "extractor": "all_assistant"},
    ]
    made = await judged(combination("all-of", *parts), tmp_path, make_sample(ground_truth="porto"))
    assert made.passed is True
    assert made.details["parts"]["contains"]["submission"] == "In Porto.\nI do not know."


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (combination("all-of"), "graders.it.config.graders: there is no grader"),
        ({"type": "all-of"}, 'graders.it.config: "graders" is missing'),
        ({"type": "not"}, 'graders.it.config: "grader" is missing'),
        (
            combination("any-of", {**PORTO, "weight": 2}),
            "graders.it.config.graders[0].weight: a part of a combination has no `weight`",
        ),
        (
            {"type": "not", "config": {"grader": {**PORTO, "role": "observed"}}},
            "graders.it.config.grader.role: a part of a combination has no `role`",
        ),
        (
            {"type": "not", "config": {"grader": {"type": "complete"}}},
            'graders.it.config.grader.type: unknown grader "complete"; did you mean "completed"?',
        ),
        (
            combination("all-of", {"type": "output-matches", "config": {"pattern": "("}}),
            "graders.it.config.graders[0].config.pattern: invalid pattern",
        ),
        (
            combination("all-of", {"type": "output-matches", "config": {"patern": "x"}}),
            'graders.it.config.graders[0].config.patern: unknown key "patern"',
        ),
    ],
)
def test_mistakes_in_parts_are_found_where_they_stand(entry, problem):
    with pytest.raises(SuiteError) as caught:
        suite_of(entry)
    assert problem in str(caught.value)
    assert len(caught.value.faults) == 1


def test_a_part_with_other_options_makes_another_fingerprint():
    prints = {
        suite_of(combination("all-of", part)).graders[0].fingerprint
        for part in (PORTO, UNKNOWN, {**PORTO, "turn": 0}, {**PORTO, "threshold": 0.5})
    }
    assert len(prints) == 4
