import json

import pytest
from fakes.factories import DATA

from harness.messages.letta_turns import LettaTurn, order_letta_messages, read_letta_turns
from harness.types.events import (
    AssistantMessage,
    SystemEvent,
    ToolCall,
    ToolResult,
    UserMessage,
)


def load(name):
    return json.loads((DATA / "letta" / name).read_text(encoding="utf-8"))


def kinds(events):
    return [
        f"{event.kind}" if isinstance(event, SystemEvent) else type(event).__name__
        for event in events
    ]


def user(text, **more):
    return {"message_type": "user_message", "content": text, **more}


def said(text, **more):
    return {"message_type": "assistant_message", "content": text, **more}


def called(call_id, name="find", **more):
    call = {"name": name, "arguments": "{}", "tool_call_id": call_id}
    return {"message_type": "tool_call_message", "tool_calls": [call], **more}


def answered(call_id, text="ok", **more):
    fields = {"tool_return": text, "status": "success", "tool_call_id": call_id}
    return {"message_type": "tool_return_message", **fields, **more}


def test_two_parallel_calls_are_two_calls_and_two_named_results():
    turn = LettaTurn()
    events = turn.read_reply(load("parallel_calls.json"))
    assert [(type(e), e.step) for e in events] == [
        (ToolCall, 0), (ToolCall, 0), (ToolResult, 0), (ToolResult, 0), (AssistantMessage, 1)
    ]  # fmt: skip
    assert [event.call_id for event in events[:4]] == ["call-1", "call-2"] * 2
    assert {event.name for event in events[:4]} == {"create_release_train"}
    assert [step.stop_reason for step in turn.steps.all] == [None, "end_turn"]


def test_a_raising_tool_is_a_failed_result_with_its_traceback_apart():
    result = LettaTurn().read_reply(load("raising_tool.json"))[1]
    assert isinstance(result, ToolResult)
    assert not result.ok
    assert result.output == "Error executing function explode: RuntimeError: boom: scripted"
    assert result.structured["stdout"] == ["about to fail\n"]
    assert result.structured["stderr"][0].endswith("RuntimeError: boom: scripted\n")


def test_a_compaction_s_notice_is_neither_the_user_s_word_nor_the_answer():
    events = LettaTurn().read_reply(load("compaction.json"))
    assert kinds(events) == ["AssistantMessage", "system_alert"]
    assert events[1].text.startswith("Note: prior messages have been hidden")


def test_pending_calls_are_those_without_a_result():
    turn = LettaTurn()
    for message in (called("c1"), called("c2"), answered("c1")):
        turn.read(message)
    assert [call.call_id for call in turn.pending] == ["c2"]


def test_steps_go_on_over_all_replies_of_a_turn():
    turn = LettaTurn()
    turn.read(called("c1", step_id="s1"))
    (result,) = turn.read(answered("c1", step_id="s1"))
    (answer,) = turn.read(said("done", step_id="s2"))
    assert (result.step, result.name, answer.step) == (0, "find", 1)


def test_a_call_told_twice_is_one_call():
    turn = LettaTurn()
    asked = {**called("c1"), "message_type": "approval_request_message"}
    assert kinds(turn.read(asked)) == ["ToolCall", "approval_request"]
    assert turn.read(called("c1")) == ()
    assert kinds(turn.read(called("c1", name="send"))) == ["ToolCall"]
    turn.read(answered("c1"))
    assert kinds(turn.read(called("c1", name="send"))) == ["ToolCall"]


def test_a_broken_message_of_a_reply_is_named_by_its_index():
    with pytest.raises(ValueError, match=r"^message 1: a message must be an object, got null$"):
        LettaTurn().read_reply({"messages": [said("a"), None]})


def test_each_user_message_begins_a_turn():
    turns = read_letta_turns([said("seed"), user("a"), said("1"), user("b"), said("2")])
    assert [kinds(turn.events) for turn in turns] == [
        ["AssistantMessage", "UserMessage", "AssistantMessage"],
        ["UserMessage", "AssistantMessage"],
    ]
    assert [len(turn.steps) for turn in turns] == [1, 1]


def test_a_history_shows_approvals_in_order():
    turns = read_letta_turns(load("approval_history.json"))
    shown = ["UserMessage", "ToolCall", "approval_request", "approval_response", "ToolResult"]
    assert [kinds(turn.events)[:5] for turn in turns] == [shown, shown]
    reasons = [turn.events[3].text for turn in turns]
    assert reasons == ["", "not today"]


def test_a_result_in_a_later_turn_has_the_name_of_its_call():
    turns = read_letta_turns([user("a"), called("c1"), user("b"), answered("c1")])
    (result,) = turns[1].events[1:]
    assert isinstance(result, ToolResult)
    assert result.name == "find"


REMINDER = "<system-reminder>plan</system-reminder>"


def test_reminders_around_the_users_text_are_system_events():
    messages = [user(f"{REMINDER}\n hello"), said("hi"), user(REMINDER), said("ok")]
    (turn,) = read_letta_turns(messages, reminders=True)
    assert kinds(turn.events) == [
        "UserMessage", "system_reminder", "AssistantMessage", "system_reminder", "AssistantMessage"
    ]  # fmt: skip
    assert (turn.events[0].text, turn.events[1].text) == ("hello", "plan")


def test_a_plain_user_may_write_a_reminder():
    (turn,) = read_letta_turns([user(REMINDER)])
    assert turn.events == (UserMessage(text=REMINDER),)


def test_parts_of_one_reply_share_an_id_and_are_no_repeats():
    messages = [said("a", id="m", otid="1"), called("c1", id="m", otid="2"), said("b", id="n")]
    assert order_letta_messages([*messages, *messages]) == messages


def test_messages_without_an_id_are_no_repeats():
    assert len(order_letta_messages([said("a"), said("a"), 3, {"id": []}])) == 4


def test_the_newest_first_is_turned_round():
    dates = [f"2026-01-01T00:00:0{n}Z" for n in range(3)]
    messages = [said(date, id=date, date=date) for date in dates]
    assert order_letta_messages(messages[::-1]) == messages
    assert order_letta_messages(messages) == messages


@pytest.mark.parametrize("messages", [{"messages": []}, "text", 3, None])
def test_what_is_no_list_of_messages_is_refused(messages):
    with pytest.raises(ValueError, match="messages must be a list"):
        read_letta_turns(messages)
