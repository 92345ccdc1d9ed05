from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from harness.messages.pydantic_ai_messages import (
    is_pydantic_ai_messages,
    is_pydantic_ai_result,
    read_pydantic_ai_turns,
)
from harness.types.events import (
    AssistantMessage,
    Reasoning,
    SystemEvent,
    ToolCall,
    ToolResult,
    UserMessage,
)
from harness.types.trajectories import Step, Usage

AT = datetime(2026, 1, 2, tzinfo=UTC)


@dataclass
class Part:
    """A part with the fields that those of Pydantic AI have."""

    part_kind: str
    content: Any = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    args: Any = None
    outcome: str = "success"
    timestamp: datetime | None = None


@dataclass
class Numbers:
    input_tokens: int = 3
    output_tokens: int = 1


@dataclass
class Message:
    kind: str
    parts: list
    instructions: str | None = None
    usage: Numbers = field(default_factory=Numbers)
    model_name: str = "small-1"
    finish_reason: str | None = "stop"
    timestamp: datetime | None = None


@dataclass
class Picture:
    url: str
    kind: str = "image-url"


@dataclass
class Result:
    messages: list

    def all_messages(self):
        return self.messages


def call(call_id, args):
    return Part("tool-call", tool_name="find", tool_call_id=call_id, args=args)


def returned(call_id, content, outcome="success"):
    return Part("tool-return", content, "find", call_id, outcome=outcome)


MESSAGES = [
    Message("request", [
        Part("system-prompt", "Be kind."),
        Part("user-prompt", ["Where?", Picture("u")], timestamp=AT),
    ], instructions="Be brief."),
    Message("response", [
        Part("thinking", "hm"), Part("text", "<think>oh</think>wait"), call("c1", '{"id":1}'),
        call("c2", {"id": 2}), call("c3", None),
    ]),
    Message("request", [
        returned("c1", {"place": "Ulm"}), returned("c2", "no", "retried"),
        Part("retry-prompt", "not so", "find", "c3"),
    ], instructions="Be brief."),
    Message("response", [Part("text", "bad"), Part("hologram", "?")]),
    Message("request", [Part("retry-prompt", "bad is bad"), Part("instruction-delta", "x")]),
    Message("response", [Part("text", "In Ulm.")]),
]  # fmt: skip


def test_requests_and_responses_are_read_part_by_part():
    (turn,) = read_pydantic_ai_turns(MESSAGES)
    assert [event for event in turn.events if not isinstance(event, SystemEvent)] == [
        UserMessage(text="Where?", at=AT),
        Reasoning(text="hm", step=0),
        Reasoning(text="oh", step=0),
        AssistantMessage(text="wait", step=0),
        ToolCall(call_id="c1", name="find", arguments={"id": 1}, arguments_text='{"id":1}', step=0),
        ToolCall(call_id="c2", name="find", arguments={"id": 2}, step=0),
        ToolCall(call_id="c3", name="find", arguments={}, step=0),
        ToolResult(
            call_id="c1", name="find", output='{"place":"Ulm"}', structured={"place": "Ulm"}, step=0
        ),
        ToolResult(call_id="c2", name="find", output="no", ok=False, step=0),
        ToolResult(call_id="c3", name="find", output="not so", ok=False, step=0),
        AssistantMessage(text="bad", step=1),
        AssistantMessage(text="In Ulm.", step=2),
    ]


def test_what_the_framework_says_is_no_turn_and_instructions_are_told_once():
    (turn,) = read_pydantic_ai_turns(MESSAGES)
    assert [(e.kind, e.text) for e in turn.events if isinstance(e, SystemEvent)] == [
        ("instructions", "Be brief."), ("system", "Be kind."), ("image-url", ""),
        ("hologram", ""), ("retry_prompt", "bad is bad"), ("instruction-delta", ""),
    ]  # fmt: skip


def test_a_response_is_a_step_with_its_numbers():
    (turn,) = read_pydantic_ai_turns(MESSAGES)
    numbers = Usage(input_tokens=3, output_tokens=1)
    assert turn.steps == (Step(usage=numbers, model="small-1", stop_reason="stop"),) * 3


def test_a_result_its_messages_and_their_json_are_read_alike():
    result = Result(MESSAGES)
    assert (is_pydantic_ai_result(result), is_pydantic_ai_messages(MESSAGES)) == (True, True)
    written = [asdict(message) for message in MESSAGES]
    assert is_pydantic_ai_messages(written)
    expected = read_pydantic_ai_turns(MESSAGES)
    assert [read_pydantic_ai_turns(answer) for answer in (result, written)] == [expected] * 2


@pytest.mark.parametrize(
    "value",
    [None, "text", [], [{"kind": "request"}], [{"role": "user"}], {"all_messages": 1}, Result],
)
def test_what_others_return_is_not_taken_for_theirs(value):
    assert not is_pydantic_ai_messages(value)
    assert not is_pydantic_ai_result(value)


def test_a_result_whose_messages_are_no_list_is_refused_in_words():
    with pytest.raises(ValueError, match="must be a list"):
        read_pydantic_ai_turns(Result("none"))
