"""What custom graders see of a conversation, and what is said of their judgements."""

import msgspec
from fakes.factories import make_custom, make_grader, make_sample, make_trajectory

from harness.grading.judging import grade_trajectory
from harness.types.events import AssistantMessage, UserMessage
from harness.types.suites import Limits


async def graded(function, sample=None, trajectory=None):
    trajectory = trajectory or make_trajectory([UserMessage(text="q"), AssistantMessage(text="a")])
    spec = make_custom(function, name="mine")
    grades = await grade_trajectory(
        [spec], sample or make_sample(), trajectory, snapshots={}, limits=Limits()
    )
    return grades["mine"]


async def test_a_bare_score_still_has_a_reason_to_show():
    def short_enough(sample, submission):
        return False

    grade = await graded(short_enough)
    assert (grade.passed, grade.evidence) == (False, "mine returned False")


async def test_a_custom_trajectory_grader_sees_the_whole_conversation_of_a_sample_of_turns():
    seen = []

    def booked(trajectory):
        seen.append(len(trajectory.turns))
        return True

    turns = [[UserMessage(text=text), AssistantMessage(text=text)] for text in ("one", "two")]
    sample = make_sample(input=("one", "two"), ground_truth=("one", "two"))
    grade = await graded(booked, sample, make_trajectory(*turns))
    assert (seen, grade.passed) == ([2], True)


async def test_secrets_of_the_environment_stand_in_no_error_grade(monkeypatch):
    monkeypatch.setenv("JUDGE_API_KEY", "canary-9f3a-secret")

    def leaks(sample, submission):
        raise ValueError("x" * 7_990 + "canary-9f3a-secret")

    grade = await graded(leaks)
    assert grade.status == "error"
    assert "canary" not in f"{grade.evidence}{grade.details}"


async def test_lone_surrogates_in_the_details_of_turns_can_be_stored():
    turns = [[UserMessage(text=text), AssistantMessage(text="\ud800")] for text in ("one", "two")]
    sample = make_sample(input=("one", "two"), ground_truth=("one", "two"))
    spec = make_grader("exact_match")
    grades = await grade_trajectory(
        [spec], sample, make_trajectory(*turns), snapshots={}, limits=Limits()
    )
    assert "\ufffd" in msgspec.json.encode(grades[spec.name]).decode()
