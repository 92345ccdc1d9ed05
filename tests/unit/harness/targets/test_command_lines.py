import pytest

from harness.targets.command_lines import CODES, is_meant, read_line
from harness.types.errors import POLICIES
from harness.types.events import (
    AssistantMessage,
    ErrorEvent,
    Reasoning,
    SystemEvent,
    ToolCall,
    ToolResult,
)
from harness.types.trajectories import Step, Usage


@pytest.mark.parametrize(
    ("line", "event"),
    [
        ({"type": "assistant_message", "text": "x"}, AssistantMessage(text="x")),
        ({"type": "reasoning", "text": "x", "step": 2}, Reasoning(text="x", step=2)),
        (
            {"type": "tool_call", "name": "t", "agent": "a", "parent_call_id": "p"},
            ToolCall(call_id=None, name="t", arguments={}, agent="a", parent_call_id="p"),
        ),
        (
            {"type": "tool_call", "name": "t", "call_id": "1", "arguments": '{"a":1}'},
            ToolCall(call_id="1", name="t", arguments={"a": 1}, arguments_text='{"a":1}'),
        ),
        (
            {"type": "tool_result", "call_id": "1", "output": "text", "name": "ignored"},
            ToolResult(call_id="1", name=None, output="text"),
        ),
        (
            {"type": "tool_result", "output": {"a": [1, "ö"]}, "ok": False},
            ToolResult(
                call_id=None,
                name=None,
                output='{"a":[1,"ö"]}',
                ok=False,
                structured={"a": [1, "ö"]},
            ),
        ),
        (
            {"type": "system", "kind": "compaction", "data": [1]},
            SystemEvent(kind="compaction", data=[1]),
        ),
        ({"type": "error", "message": "m"}, ErrorEvent(kind="error", message="m")),
    ],
)
def test_a_line_is_the_event_that_it_is_named_like(line, event):
    assert is_meant(line)
    assert read_line(line).event == event


def test_a_step_holds_the_numbers_of_a_reply():
    usage = {"input_tokens": 1, "output_tokens": 2, "cost_usd": 0.5}
    line = {"type": "step", "usage": usage, "model": "m", "stop_reason": "stop", "seconds": 1}
    assert read_line(line).step == Step(
        usage=Usage(input_tokens=1, output_tokens=2, cost_usd=0.5),
        model="m",
        stop_reason="stop",
        seconds=1.0,
    )


@pytest.mark.parametrize("code", sorted(CODES))
def test_an_error_with_a_code_ends_the_turn_as_that_error(code):
    line = {"type": "error", "code": code, "message": "m", "retry_after": 2.5}
    told = read_line(line)
    assert (told.failure.code, told.failure.retry_after, str(told.failure)) == (code, 2.5, "m")
    assert told.event == ErrorEvent(kind=code, message="m")


@pytest.mark.parametrize("code", sorted(POLICIES.keys() - CODES))
def test_a_code_that_is_not_the_agents_to_give_is_refused(code):
    with pytest.raises(ValueError, match="unknown code"):
        read_line({"type": "error", "code": code, "message": "m"})


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ({"type": "assistant_mesage", "text": "x"}, 'did you mean "assistant_message"'),
        ({"type": 3}, "unknown type int"),
        ({"type": "turn_end", "text": "x"}, 'turn_end: unknown field "text"'),
        ({"type": "reasoning"}, "missing required field `text`"),
        ({"type": "reasoning", "text": "x", "step": -1}, r"`int` >= 0 - at `\$.step`"),
        ({"type": "step", "usage": {"input": 1}}, '"usage.input"; allowed: cost_usd'),
        (
            {"type": "step", "usage": {"input_tokens": -4}},
            '"usage.input_tokens" is no number from 0',
        ),
        ({"type": "step", "usage": {"output_tokens": "12"}}, '"usage.output_tokens" is no number'),
        ({"type": "step", "usage": {"output_tokens": 1.5}}, "tokens are whole numbers"),
        ({"type": "step", "usage": {"cost_usd": -1}}, '"usage.cost_usd" is no number from 0'),
        ({"type": "step", "seconds": -1}, "`float` >= 0"),
        ({"type": "error", "message": "m", "retry_after": 1}, "retry_after stands beside a code"),
        ({"type": "error", "code": "overloaded", "message": "m", "retry_after": -1}, ">= 0"),
        ({"type": "state", "data": [1]}, "Expected `object`"),
    ],
)
def test_what_cannot_be_read_is_said(line, problem):
    with pytest.raises(ValueError, match=problem):
        read_line(line)
