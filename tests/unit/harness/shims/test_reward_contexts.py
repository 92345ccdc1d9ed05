import pytest
from fakes.factories import make_sample, make_trajectory

from harness.shims.letta_views import LettaView
from harness.shims.reward_contexts import letta_usage, reward_context
from harness.types.grades import Grade
from harness.types.protocols import Subject
from harness.types.trajectories import Usage
from harness.types.trials import TrialFacts


def context(*, snapshots=None, **facts):
    trajectory = make_trajectory()
    subject = Subject(make_sample(id="4"), trajectory, None, snapshots or {}, TrialFacts(**facts))
    return reward_context(subject, LettaView(trajectory))


def test_grades_and_submissions_stand_by_the_graders_names():
    made = context(
        grades={
            "a": Grade(
                score=0.5, passed=False, evidence="half", submission="K41", details={"n": 1}
            ),
            "b": Grade(score=1.0, passed=True),
            "c": Grade(status="skipped"),
        }
    )
    assert list(made.grades) == ["a", "b"]
    assert (made.grades["a"].score, made.grades["a"].rationale) == (0.5, "half")
    assert made.grades["a"].metadata == {"n": 1}
    assert made.submissions == {"a": "K41", "b": ""}


def test_the_trial_is_told_of():
    made = context(
        model="openai/m",
        seconds=2.5,
        usage=Usage(input_tokens=10, output_tokens=3, cost_usd=0.25),
        snapshots={"agent_state": {"id": "agent-1", "blocks": []}},
    )
    assert (made.sample.id, made.model_handle, made.agent_id) == (4, "openai/m", "agent-1")
    assert made.agent_state.blocks == []
    assert (made.usage.prompt_tokens, made.usage.completion_tokens, made.usage.cost) == (
        10,
        3,
        0.25,
    )
    assert (made.timing.total, made.timing.target) == (2.5, 2.5)
    assert made.trajectory[0][-1].content == "It is K41."


def test_what_is_not_known_is_none():
    made = context()
    assert (made.model_handle, made.agent_id, made.agent_state, made.usage) == (None,) * 4
    assert (made.grades, made.submissions) == ({}, {})


@pytest.mark.parametrize(
    ("usage", "known"),
    [
        (Usage(), False),
        (Usage(input_tokens=0, output_tokens=0), False),
        (Usage(input_tokens=1), True),
        (Usage(output_tokens=1), True),
        (Usage(cost_usd=0.1), True),
    ],
)
def test_a_usage_of_nothing_is_none(usage, known):
    assert (letta_usage(usage) is not None) is known
