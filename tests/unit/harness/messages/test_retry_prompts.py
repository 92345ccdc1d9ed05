import pytest

from harness.messages.retry_prompts import is_retry_prompt, join_retries
from harness.types.events import AssistantMessage, SystemEvent, UserMessage
from harness.types.trajectories import Step, Turn

FEEDBACK = "Validation feedback:\nPlain text is not permitted.\n\nFix the errors and try again."


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (FEEDBACK, True),
        ('2 validation errors:\n```json\n[{"a":1}]\n```\n\nFix the errors and try again.', True),
        ("Here is my log.\n\nFix the errors and try again.", False),
        ("Validation feedback:\nnone", False),
    ],
)
def test_only_the_framework_s_own_wording_is_a_retry_prompt(text, is_one):
    assert is_retry_prompt(text) is is_one


def test_a_retry_goes_on_with_the_turn_before_it_and_its_steps_are_counted_on():
    asked = Turn(
        events=(UserMessage(text="Hi"), AssistantMessage(text="a", step=0)),
        steps=(Step(model="one"),),
    )
    retry = Turn(
        events=(UserMessage(text=FEEDBACK), AssistantMessage(text="b", step=0)),
        steps=(Step(model="two"),),
    )
    (turn,) = join_retries([asked, retry])
    assert turn.events[2:] == (
        SystemEvent(kind="retry_prompt", text=FEEDBACK),
        AssistantMessage(text="b", step=1),
    )
    assert [step.model for step in turn.steps] == ["one", "two"]
