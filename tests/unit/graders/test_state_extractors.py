import pytest
from fakes.factories import make_sample, make_trajectory

from graders.state_extractors import MemoryBlock
from harness.types.errors import GraderError
from harness.types.events import AssistantMessage, UserMessage
from harness.types.protocols import AGENT_STATE, Subject

TRAJECTORY = make_trajectory([UserMessage(text="q"), AssistantMessage(text="a")])
BLOCKS = [{"label": "persona", "value": "calm"}, {"label": "human", "value": "called Inês"}]


def subject(snapshots):
    return Subject(make_sample(), TRAJECTORY, None, snapshots)


@pytest.mark.parametrize("state", [{"blocks": BLOCKS}, {"memory": {"blocks": BLOCKS}}])
def test_the_value_of_the_block_with_the_label_is_taken(state):
    taken = MemoryBlock(block_label="human").extract_from(subject({AGENT_STATE: state}))
    assert taken.text == "called Inês"


@pytest.mark.parametrize(
    "state", [{}, {"blocks": []}, {"blocks": BLOCKS}, {"blocks": ["x", {"label": "other"}]}]
)
def test_a_block_that_the_agent_does_not_have_is_empty(state):
    assert MemoryBlock(block_label="other").extract_from(subject({AGENT_STATE: state})).text == ""


def test_a_trial_without_the_state_of_its_agent_cannot_be_graded():
    with pytest.raises(GraderError, match="was not stored"):
        MemoryBlock(block_label="human").extract_from(subject({}))
