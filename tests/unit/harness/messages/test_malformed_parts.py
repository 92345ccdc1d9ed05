"""Messages with malformed parts: only the parts are left out."""

import pytest

from harness.messages.chat import read_turns
from harness.types.events import AssistantMessage, SystemEvent, ToolCall, UserMessage

GOOD = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("message", "said", "calls", "unread"),
    [
        ({"content": "I look.", "tool_calls": [GOOD, "junk"]}, "I look.", 1, {"tool_call": 1}),
        ({"content": "I look.", "tool_calls": [{"id": "x"}, GOOD]}, "I look.", 1, {"tool_call": 1}),
        ({"content": "I look.", "tool_calls": [None, GOOD, 7]}, "I look.", 1, {"tool_call": 2}),
        ({"content": "I look.", "tool_calls": "junk"}, "I look.", 0, {"tool_calls": 1}),
        ({"content": "I look.", "tool_calls": {"id": "x"}}, "I look.", 0, {"tool_call": 1}),
        ({"content": "I look.", "function_call": {"x": 1}}, "I look.", 0, {"function_call": 1}),
        ({"content": ["I look.", 5], "tool_calls": [GOOD]}, "I look.", 1, {"content_block": 1}),
    ],
)
def test_a_malformed_part_takes_nothing_else_with_it(message, said, calls, unread):
    counted = {}
    messages = [{"role": "user", "content": "Hi."}, {"role": "assistant", **message}]
    (turn,) = read_turns(messages, unread=counted)
    assert counted == unread
    assert [e.text for e in turn.events if isinstance(e, AssistantMessage)] == [said]
    assert sum(isinstance(e, ToolCall) for e in turn.events) == calls
    kept = [e.kind for e in turn.events if isinstance(e, SystemEvent)]
    assert sorted(kept) == sorted(kind for kind, count in unread.items() for _ in range(count))


def test_a_malformed_block_of_the_user_leaves_the_turn():
    counted = {}
    (turn,) = read_turns([{"role": "user", "content": ["Hi.", 5]}], unread=counted)
    assert isinstance(turn.events[0], UserMessage)
    assert (turn.events[0].text, counted) == ("Hi.", {"content_block": 1})


def test_a_live_reply_with_a_malformed_call_is_still_refused():
    with pytest.raises(ValueError, match="tool call 1"):
        read_turns([{"role": "assistant", "content": "x", "tool_calls": [GOOD, "junk"]}])
