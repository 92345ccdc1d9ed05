from datetime import UTC, datetime

import pytest
from letta_client import types
from letta_client.types import agents

from harness.messages.letta_models import build_letta_model, build_letta_models
from harness.messages.letta_records import write_letta_records
from harness.types.events import (
    AssistantMessage,
    Reasoning,
    SystemEvent,
    ToolCall,
    ToolResult,
    UserMessage,
)
from harness.types.trajectories import Trajectory, Turn


def build(*events):
    (models,) = build_letta_models(write_letta_records(Trajectory(turns=(Turn(events=events),))))
    return models


def test_a_grader_finds_the_classes_it_looks_for():
    models = build(
        UserMessage(text="hi"),
        Reasoning(text="hm"),
        ToolCall(call_id="c1", name="find", arguments={"q": 1}, arguments_text='{"q": 1}'),
        ToolCall(call_id="c2", name="send", arguments={}, arguments_text="{}"),
        ToolResult(call_id="c1", name="find", output="found", ok=False),
        AssistantMessage(text="done", at=datetime(2026, 1, 1, tzinfo=UTC)),
    )
    user, reasoning, calls, result, answer = models
    assert isinstance(user, agents.UserMessage)
    assert isinstance(reasoning, agents.ReasoningMessage)
    assert isinstance(calls, agents.ToolCallMessage)
    assert isinstance(calls.tool_call, agents.ToolCall)
    assert (calls.tool_call.name, calls.tool_call.arguments) == ("find", '{"q": 1}')
    assert isinstance(calls.tool_calls, list)
    assert [call.tool_call_id for call in calls.tool_calls] == ["c1", "c2"]
    assert isinstance(result, types.ToolReturnMessage)
    assert (result.status, result.tool_return, result.tool_call_id) == ("error", "found", "c1")
    assert result.tool_returns is not None
    assert result.tool_returns[0].status == "error"
    assert isinstance(answer, agents.AssistantMessage)
    assert (answer.content, answer.date) == ("done", datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("event", "name"),
    [
        (SystemEvent(kind="system", text="a"), "SystemMessage"),
        (SystemEvent(kind="summary", text="a"), "SummaryMessage"),
        (SystemEvent(kind="hidden_reasoning", text="omitted"), "HiddenReasoningMessage"),
        (
            SystemEvent(kind="approval_request", data={"tool_call_ids": []}),
            "ApprovalRequestMessage",
        ),
        (SystemEvent(kind="approval_response", data={"approve": True}), "ApprovalResponseMessage"),
        (SystemEvent(kind="odd", text="a"), "EventMessage"),
    ],
)
def test_system_events_have_the_classes_of_their_messages(event, name):
    assert [type(model).__name__ for model in build(event)] == [name]


@pytest.mark.parametrize("record", [{"message_type": "newer_message", "a": [1]}, {"a": 1}, {}])
def test_a_message_of_any_type_has_an_object(record):
    assert isinstance(build_letta_model(record), agents.EventMessage)
