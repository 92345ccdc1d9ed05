from datetime import UTC, datetime

import pytest

from harness.messages.letta_messages import read_date, read_letta_message
from harness.types.events import (
    AssistantMessage,
    ErrorEvent,
    Reasoning,
    SystemEvent,
    ToolCall,
    UserMessage,
)

IMAGE = {"type": "image", "source": {"type": "url", "url": "x"}}


def read(message_type, **fields):
    return read_letta_message({"message_type": message_type, **fields})


@pytest.mark.parametrize(
    ("message_type", "fields", "expected"),
    [
        ("user_message", {"content": "hi"}, [UserMessage(text="hi")]),
        ("user_message", {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"},
                                      IMAGE]},
         [UserMessage(text="a\nb"), SystemEvent(kind="image", data=IMAGE)]),
        ("system_message", {"content": "be kind"}, [SystemEvent(kind="system", text="be kind")]),
        ("assistant_message", {"content": "yes"}, [AssistantMessage(text="yes")]),
        ("assistant_message", {"content": [{"type": "text", "text": "y"}, {"text": "es"}]},
         [AssistantMessage(text="yes")]),
        ("assistant_message", {"content": None}, [AssistantMessage(text="")]),
        ("assistant_message", {"content": "\ud800"}, [AssistantMessage(text="\ufffd")]),
        ("reasoning_message", {"reasoning": "hm", "source": "reasoner_model"},
         [Reasoning(text="hm")]),
        ("hidden_reasoning_message", {"state": "redacted", "hidden_reasoning": "QUJD"},
         [SystemEvent(kind="hidden_reasoning", text="redacted",
                      data={"hidden_reasoning": "QUJD"})]),
        ("hidden_reasoning_message", {"state": "omitted", "hidden_reasoning": None},
         [SystemEvent(kind="hidden_reasoning", text="omitted")]),
        ("summary_message", {"summary": "all well", "compaction_stats": {"trigger": "x"}},
         [SystemEvent(kind="summary", text="all well", data={"trigger": "x"})]),
        ("event_message", {"event_type": "compaction", "event_data": {"trigger": "x"}},
         [SystemEvent(kind="compaction", data={"trigger": "x"})]),
        ("event_message", {"event_type": 3, "event_data": {}},
         [SystemEvent(kind="event_message", data={"event_type": 3, "event_data": {}})]),
        ("approval_response_message", {"approve": False, "reason": "not today", "approvals": None},
         [SystemEvent(kind="approval_response", text="not today",
                      data={"approve": False, "reason": "not today"})]),
        ("error_message", {"error_type": "llm_error", "message": "failed", "detail": "500"},
         [ErrorEvent(kind="llm_error", message="failed 500")]),
        ("error_message", {"message": "failed: 500", "detail": "500"},
         [ErrorEvent(kind="error", message="failed: 500")]),
        ("newer_message", {"a": 1, "b": None}, [SystemEvent(kind="newer_message", data={"a": 1})]),
        ("ping", {}, []),
        ("stop_reason", {"stop_reason": "end_turn"}, []),
        ("usage_statistics", {"prompt_tokens": 3}, []),
    ],
)  # fmt: skip
def test_each_type_of_message_has_its_events(message_type, fields, expected):
    assert list(read(message_type, **fields)) == expected


def test_an_approval_request_is_its_calls_and_then_a_system_event():
    call = {"name": "pay", "arguments": '{"n": 1}', "tool_call_id": "c1"}
    events = read("approval_request_message", tool_call=call, tool_calls=[call])
    assert events == (
        ToolCall(call_id="c1", name="pay", arguments={"n": 1}, arguments_text='{"n": 1}'),
        SystemEvent(kind="approval_request", data={"tool_call_ids": ["c1"]}),
    )


def test_a_reply_has_its_step_its_time_and_its_speaker():
    message = {"message_type": "assistant_message", "content": "a", "name": "planner"}
    (event,) = read_letta_message({**message, "date": "2026-01-01T01:00:00+01:00"}, step=2)
    assert event == AssistantMessage(
        text="a", step=2, agent="planner", at=datetime(2026, 1, 1, tzinfo=UTC)
    )


def test_what_the_user_says_belongs_to_no_step():
    message = {"message_type": "user_message", "content": ["hi", IMAGE]}
    assert [event.step for event in read_letta_message(message, step=1)] == [None, None]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-01-01T00:00:00Z", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-01-01T00:00:00", datetime(2026, 1, 1, tzinfo=UTC)),
        (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)),
        ("0001-01-01T00:00:00+23:00", None),
        ("soon", None),
        (5, None),
        (None, None),
    ],
)
def test_a_date_is_a_time_in_utc_or_none(value, expected):
    assert read_date(value) == expected


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ([], "a message must be an object, got a list"),
        ({}, "message_type must be a non-empty text, got null"),
        ({"message_type": ""}, "message_type must be a non-empty text, got a text"),
        ({"message_type": "assistant_message", "content": 3},
         "assistant_message: content must be a text or a list of blocks, got a number"),
        ({"message_type": "reasoning_message", "reasoning": []},
         "reasoning_message: reasoning must be a text, got a list"),
        ({"message_type": "tool_call_message", "tool_calls": [3]},
         r"tool_call_message: tool_calls\[0\]: must be an object, got a number"),
        ({"message_type": "approval_request_message", "tool_call": {"name": 3}},
         "approval_request_message: tool_call: name must be a non-empty text, got a number"),
        ({"message_type": "tool_return_message", "tool_returns": {"a": 1}},
         "tool_return_message: tool_returns must be a list, got an object"),
        ({"message_type": "newer_message", "a": float("nan")},
         "newer_message: no JSON number: nan"),
    ],
)  # fmt: skip
def test_a_broken_message_is_refused_with_its_place(message, error):
    with pytest.raises(ValueError, match=f"^{error}$"):
        read_letta_message(message)
