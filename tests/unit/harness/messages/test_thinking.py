import pytest

from harness.messages.thinking import part_thinking, split_thinking
from harness.types.events import AssistantMessage, Reasoning, UserMessage
from harness.types.trajectories import Turn


@pytest.mark.parametrize(
    ("text", "visible", "thoughts"),
    [
        ("plain ", "plain ", ()),
        ("<think>\nwhy\n</think>\n\nso", "so", ("why",)),
        ("a<think>b</think>c<think>d</think>", "a\n\nc", ("b", "d")),
        ("<think>cut off", "", ("cut off",)),
        ("the tag <think> is a word", "the tag <think> is a word", ()),
        ("<think></think>", "", ()),
        ('<think redacted="true">why</think>so', "so", ("why",)),
        ("<thinker>so", "<thinker>so", ()),
        ("</think>", "</think>", ()),
    ],
)
def test_what_stands_in_think_blocks_is_not_seen(text, visible, thoughts):
    assert split_thinking(text) == (visible, thoughts)


def test_thoughts_become_reasoning_of_the_same_step_and_only_the_agent_s_texts_are_looked_at():
    asked = UserMessage(text="<think>x</think>")
    turn = Turn(events=(asked, AssistantMessage(text="<think>why</think>so", step=2, agent="a")))
    (parted,) = part_thinking([turn])
    assert parted.events == (
        asked,
        Reasoning(text="why", step=2, agent="a"),
        AssistantMessage(text="so", step=2, agent="a"),
    )


def test_nothing_but_thoughts_is_nothing_said():
    (parted,) = part_thinking([Turn(events=(AssistantMessage(text="<think>why</think>\n"),))])
    assert parted.events == (Reasoning(text="why"),)
