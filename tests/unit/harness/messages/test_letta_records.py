from datetime import UTC, datetime

import pytest

from harness.messages.letta_records import write_letta_records
from harness.messages.letta_turns import read_letta_turns
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


def write(*events):
    (records,) = write_letta_records(Trajectory(turns=(Turn(events=events),)))
    return records


def call(call_id, name="find", *, step=0, text='{"q": 1}'):
    return ToolCall(call_id=call_id, name=name, arguments={"q": 1}, arguments_text=text, step=step)


def result(call_id, output="ok", *, step=0, **more):
    return ToolResult(call_id=call_id, name="find", output=output, step=step, **more)


def kinds(records):
    return [record["message_type"] for record in records]


def test_turns_are_the_outer_list():
    turns = [Turn(events=(UserMessage(text=text),)) for text in "ab"]
    records = write_letta_records(Trajectory(turns=(*turns, Turn())))
    assert [[one["content"] for one in turn] for turn in records] == [["a"], ["b"], []]


def test_a_message_has_the_envelope_of_letta():
    at = datetime(2026, 1, 1, tzinfo=UTC)
    assert write(AssistantMessage(text="hi", step=1, at=at, agent="planner")) == [
        {
            "message_type": "assistant_message",
            "id": "message-0-0",
            "otid": "message-0-0",
            "date": "2026-01-01T00:00:00+00:00",
            "name": "planner",
            "sender_id": None,
            "step_id": "step-0-1",
            "run_id": None,
            "is_err": None,
            "seq_id": None,
            "content": "hi",
        }
    ]


def test_a_missing_date_is_the_last_one_before():
    at = datetime(2026, 1, 1, tzinfo=UTC)
    records = write(UserMessage(text="a"), UserMessage(text="b", at=at), UserMessage(text="c"))
    assert [one["date"][:4] for one in records] == ["1970", "2026", "2026"]


def test_parallel_calls_are_one_message_and_each_result_is_one():
    records = write(call("c1"), call("c2", "send"), result("c1"), result("c2"), call("c3", step=1))
    assert kinds(records) == ["tool_call_message", "tool_return_message", "tool_return_message",
                              "tool_call_message"]  # fmt: skip
    assert records[0]["tool_calls"] == [
        {"name": "find", "arguments": '{"q": 1}', "tool_call_id": "c1"},
        {"name": "send", "arguments": '{"q": 1}', "tool_call_id": "c2"},
    ]
    assert records[0]["tool_call"] == records[0]["tool_calls"][0]
    assert [one["tool_call_id"] for one in records[1:3]] == ["c1", "c2"]


def test_calls_of_other_steps_are_other_messages():
    assert kinds(write(call("c1"), call("c2", step=1))) == ["tool_call_message"] * 2


def test_a_result_holds_its_status_and_what_was_printed():
    printed = {"stdout": ["a"], "stderr": ["b"]}
    record = write(result("c1", "no", ok=False, structured=printed))[0]
    entry = {"tool_return": "no", "status": "error", "tool_call_id": "c1", **printed}
    assert record["tool_returns"] == [{"type": "tool", **entry}]
    assert {key: record[key] for key in entry} == entry
    assert record["name"] == "find"


@pytest.mark.parametrize(
    "structured", [{"stdout": "a"}, {"rows": 3}, {}, [1], {"stdout": [], "x": 1}]
)
def test_the_structure_of_other_results_is_left_out(structured):
    record = write(result("c1", "text", structured=structured))[0]
    assert (record["tool_return"], record["stdout"], record["stderr"]) == ("text", None, None)


def test_arguments_without_a_text_are_written_as_json():
    assert write(call("c1", text=None))[0]["tool_call"]["arguments"] == '{"q":1}'


def test_calls_and_results_without_ids_share_a_made_up_one():
    records = write(call(None), call(None), result(None), result(None), result("else"))
    calls = [one["tool_call_id"] for one in records[0]["tool_calls"]]
    assert calls == ["call-0-0", "call-0-1"]
    assert [one["tool_call_id"] for one in records[1:]] == [*calls, "else"]


ASKED = SystemEvent(kind="approval_request", data={"tool_call_ids": ["c2"]}, step=0)


def test_calls_that_waited_for_approval_are_a_request():
    records = write(call("c1"), call("c2"), ASKED, result("c2"))
    assert kinds(records) == ["tool_call_message", "approval_request_message",
                              "tool_return_message"]  # fmt: skip
    assert [one["tool_call"]["tool_call_id"] for one in records[:2]] == ["c1", "c2"]


def test_duplicate_keys_are_told_by_the_arguments_alone():
    twice = call("c1", text='{"q": 1, "q": 2}')
    (turn,) = read_letta_turns(write(twice))
    assert [type(event) for event in turn.events] == [ToolCall, SystemEvent]
    assert kinds(write(*turn.events, call("c2"))) == ["tool_call_message"]


@pytest.mark.parametrize(
    ("event", "message_type", "fields"),
    [
        (Reasoning(text="hm"), "reasoning_message", {"reasoning": "hm"}),
        (ErrorEvent(kind="llm_error", message="no"), "error_message",
         {"error_type": "llm_error", "message": "no"}),
        (SystemEvent(kind="system", text="be kind"), "system_message", {"content": "be kind"}),
        (SystemEvent(kind="system", text="a", data=1), "event_message",
         {"event_type": "system", "event_data": {"text": "a", "data": 1}}),
        (SystemEvent(kind="summary", text="s", data={"trigger": "t"}), "summary_message",
         {"summary": "s", "compaction_stats": {"trigger": "t"}}),
        (SystemEvent(kind="summary", data=[1]), "event_message", {"event_type": "summary"}),
        (SystemEvent(kind="hidden_reasoning", text="omitted"), "hidden_reasoning_message",
         {"state": "omitted", "hidden_reasoning": None}),
        (SystemEvent(kind="hidden_reasoning", text="else"), "event_message", {}),
        (SystemEvent(kind="approval_response", text="no", data={"approve": False, "reason": "no"}),
         "approval_response_message", {"approve": False, "reason": "no", "approvals": None}),
        (SystemEvent(kind="approval_response", text="no", data={}), "event_message", {}),
        (SystemEvent(kind="approval_request", data={"tool_call_ids": ["c9"]}), "event_message", {}),
        (SystemEvent(kind="system_alert", text="m", data={"time": "t"}), "user_message",
         {"content": '{"type":"system_alert","message":"m","time":"t"}'}),
        (SystemEvent(kind="compaction", data={"a": 1}), "event_message",
         {"event_type": "compaction", "event_data": {"a": 1}}),
        (SystemEvent(kind="odd", data={"text": 1, "data": 2}), "event_message",
         {"event_data": {"text": "", "data": {"text": 1, "data": 2}}}),
        (SystemEvent(kind="refusal", text="I can't"), "event_message",
         {"event_type": "refusal", "event_data": {"text": "I can't", "data": None}}),
    ],
)  # fmt: skip
def test_each_event_is_written_so_that_it_reads_as_itself(event, message_type, fields):
    (record,) = write(event)
    assert record["message_type"] == message_type
    assert fields.items() <= record.items()
    (turn,) = read_letta_turns([record])
    (again,) = turn.events
    assert (type(again), getattr(again, "kind", ""), getattr(again, "data", None)) == (
        type(event), getattr(event, "kind", ""), getattr(event, "data", None)
    )  # fmt: skip
