import pytest
from letta_client.types import ToolReturnMessage
from letta_client.types.agents import AssistantMessage, ToolCallMessage, UserMessage

from harness.shims.message_lists import (
    flatten_content,
    get_assistant_messages,
    get_last_turn_messages,
    get_messages_by_type,
    get_tool_calls,
)


class Part:
    def __init__(self, text):
        self.text = text


def said(text):
    return AssistantMessage.construct(message_type="assistant_message", content=text)


def asked(text):
    return UserMessage.construct(message_type="user_message", content=text)


def called(*ids):
    calls = [{"name": "find", "arguments": "{}", "tool_call_id": one} for one in ids]
    return ToolCallMessage.construct(
        message_type="tool_call_message", tool_call=calls[0], tool_calls=calls
    )


def returned(one, *more):
    returns = [{"tool_call_id": i, "status": "success", "tool_return": i} for i in (one, *more)]
    return ToolReturnMessage.construct(
        message_type="tool_return_message",
        tool_call_id=one,
        status="success",
        tool_return=one,
        tool_returns=returns,
    )


@pytest.mark.parametrize(
    ("content", "text"),
    [("a", "a"), ("", ""), ([], ""), ([Part("a")], "a"), ([Part("a"), Part("b")], "a b")],
)
def test_content_is_text_or_parts_joined_by_a_space(content, text):
    assert flatten_content(content) == text


@pytest.mark.parametrize("content", [None, 3, {"text": "a"}, (Part("a"),)])
def test_any_other_content_is_a_value_error(content):
    with pytest.raises(ValueError, match="Unexpected content type"):
        flatten_content(content)


def test_a_part_without_a_text_raises():
    with pytest.raises(AttributeError):
        flatten_content([Part("a"), {"text": "b"}])


def test_messages_are_found_by_type_over_all_turns():
    a, b, c = said("a"), said("b"), said("c")
    trajectory = [[asked("x"), a, b], [], [c]]
    assert get_assistant_messages(trajectory) == [a, b, c]
    assert [m.content for m in get_messages_by_type(trajectory, UserMessage)] == ["x"]
    assert get_messages_by_type([], UserMessage) == []


def test_the_last_turn_is_looked_at_alone():
    trajectory = [[said("a")], [asked("x"), said("b")]]
    assert [m.content for m in get_last_turn_messages(trajectory)] == ["b"]
    assert [m.content for m in get_last_turn_messages(trajectory, UserMessage)] == ["x"]
    assert get_last_turn_messages([[said("a")], []]) == []
    assert get_last_turn_messages([]) == []


def test_calls_are_paired_with_their_returns_by_id():
    one, two = called("1"), called("2")
    back_two, back_one = returned("2"), returned("1")
    assert get_tool_calls([[one, two, back_two, back_one]]) == [(one, back_one), (two, back_two)]


def test_a_return_may_answer_a_call_among_others():
    one, back = called("1"), returned("0", "1")
    assert get_tool_calls([[one, back]]) == [(one, back)]


def test_a_call_without_a_return_is_left_out():
    assert get_tool_calls([[called("1"), said("a")], [returned("1")]]) == []
