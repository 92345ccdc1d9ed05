"""Conversations as Chat Completions messages."""

from fakes.factories import make_trajectory

from harness.messages.chat_writing import write_messages
from harness.types.events import (
    AssistantMessage,
    ErrorEvent,
    Reasoning,
    SystemEvent,
    ToolCall,
    ToolResult,
    UserMessage,
)
from harness.types.trajectories import Trajectory, Turn


def written(*events):
    return write_messages(make_trajectory(list(events)))


def call(name, *, call_id="c1", step=0, **fields):
    return ToolCall(call_id=call_id, name=name, step=step, **{"arguments": {}, **fields})


def test_what_the_agent_does_in_one_reply_is_one_message():
    events = [
        UserMessage(text="q"),
        Reasoning(text="hm", step=0),
        AssistantMessage(text="One moment.", step=0),
        call("find", arguments={"q": "é"}),
        call("send", call_id="c2", arguments_text='{"to": 1}'),
        ToolResult(call_id="c2", name="send", output="no", ok=False, step=0),
        AssistantMessage(text="Done.", step=1),
    ]
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"q":"é"}'}},
        {"id": "c2", "type": "function", "function": {"name": "send", "arguments": '{"to": 1}'}},
    ]
    assert list(written(*events).messages) == [
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": "One moment.",
            "reasoning_content": "hm",
            "tool_calls": calls,
        },
        {"role": "tool", "tool_call_id": "c2", "name": "send", "content": "no", "is_error": True},
        {"role": "assistant", "content": "Done."},
    ]


def test_what_comes_in_another_order_is_another_message():
    events = [call("find"), AssistantMessage(text="a", step=0), AssistantMessage(text="b", step=0)]
    roles = [(m["role"], m["content"]) for m in written(*events).messages]
    assert roles == [("assistant", None), ("assistant", "a"), ("assistant", "b")]


def test_several_agents_keep_their_names_and_messages():
    events = [
        AssistantMessage(text="a", step=0, agent="planner"),
        AssistantMessage(text="b", step=0, agent="writer"),
    ]
    assert [m["name"] for m in written(*events).messages] == ["planner", "writer"]


def test_parts_other_than_text_stand_in_their_message():
    image = {"type": "image_url", "image_url": {"url": "x"}}
    events = [UserMessage(text="q"), SystemEvent(kind="image_url", data=image)]
    content = [{"type": "text", "text": "q"}, image]
    assert list(written(*events).messages) == [{"role": "user", "content": content}]
    events[0] = UserMessage(text="")
    assert list(written(*events).messages) == [{"role": "user", "content": [image]}]


def test_a_later_turn_that_no_user_began_is_counted():
    turns = tuple(Turn(events=(AssistantMessage(text=text, step=0),)) for text in "abc")
    result = write_messages(Trajectory(turns=turns))
    assert [message["content"] for message in result.messages] == ["a", "b", "c"]
    assert result.left_out == {"turn_without_user": 2}


def test_what_messages_have_no_form_for_is_counted():
    events = [
        SystemEvent(kind="system", text="Be kind."),
        SystemEvent(kind="compaction", data={"kept": 3}),
        SystemEvent(kind="compaction"),
        ErrorEvent(kind="overloaded", message="503"),
    ]
    result = written(*events)
    assert list(result.messages) == [{"role": "system", "content": "Be kind."}]
    assert result.left_out == {"compaction": 2, "overloaded": 1}
