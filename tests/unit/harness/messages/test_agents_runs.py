from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from harness.messages.agents_runs import is_agents_result, read_agents_result
from harness.types.events import AssistantMessage, ToolCall, ToolResult, UserMessage


class Item(BaseModel, extra="allow"):
    """An item of the Responses API, as the SDK's models are."""

    type: str


@dataclass
class Agent:
    name: str


@dataclass
class Wrapped:
    agent: Agent
    raw_item: Any
    type: str = "item"


@dataclass
class Usage:
    input_tokens: int
    output_tokens: int


@dataclass
class Response:
    output: list
    usage: Usage


@dataclass
class Result:
    """What `Runner.run` returns, as far as it is looked at."""

    input: Any
    new_items: Any
    raw_responses: list = field(default_factory=list)

    def to_input_list(self):
        return [{"role": "user", "content": "listed"}]


CALL = Item(type="function_call", id="fc", call_id="c1", name="find", arguments='{"id":1}')
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "Ulm"}


def test_the_result_of_a_run_is_read_from_its_items_with_agents_and_numbers():
    items = [Wrapped(Agent("clerk"), CALL), Wrapped(Agent("clerk"), OUTPUT)]
    result = Result("Where?", items, [Response([CALL], Usage(5, 2))])
    assert is_agents_result(result)
    (turn,) = read_agents_result(result)
    assert turn.events == (
        UserMessage(text="Where?"),
        ToolCall(
            call_id="c1", name="find", arguments={"id": 1}, arguments_text='{"id":1}',
            step=0, agent="clerk",
        ),
        ToolResult(call_id="c1", name="find", output="Ulm", step=0, agent="clerk"),
    )  # fmt: skip
    assert [step.usage.input_tokens for step in turn.steps] == [5]


def test_a_result_without_items_is_read_from_its_input_list():
    (turn,) = read_agents_result(Result(None, None))
    assert turn.events == (UserMessage(text="listed"),)


def test_the_input_may_be_a_conversation():
    given = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    (turn,) = read_agents_result(Result(given, []))
    assert turn.events[1:] == (AssistantMessage(text="b", step=0),)


def test_mappings_and_other_objects_are_no_results():
    assert [is_agents_result(value) for value in ({"to_input_list": len}, "text", None)] == [
        False, False, False,
    ]  # fmt: skip
