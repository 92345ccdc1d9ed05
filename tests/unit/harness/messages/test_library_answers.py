import subprocess
import sys

import pytest
from pydantic import BaseModel

from harness.messages.library_answers import read_library_answer
from harness.types.events import AssistantMessage, UserMessage

SAID = [UserMessage(text="Hi"), AssistantMessage(text="Hello.", step=0)]
LANGCHAIN = [{"type": "human", "content": "Hi"}, {"type": "ai", "content": "Hello."}]
PYDANTIC_AI = [
    {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Hi"}]},
    {"kind": "response", "parts": [{"part_kind": "text", "content": "Hello."}]},
]
ITEMS = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]


class AgentsResult:
    input = "Hi"
    new_items = ()

    def to_input_list(self):
        return ITEMS


class PydanticResult:
    def all_messages(self):
        return PYDANTIC_AI


@pytest.mark.parametrize(
    "answer", [LANGCHAIN, {"messages": LANGCHAIN}, PYDANTIC_AI, PydanticResult()]
)
def test_what_a_library_returned_is_known_and_read(answer):
    (turn,) = read_library_answer(answer)
    assert list(turn.events) == SAID


def test_a_result_of_the_agents_sdk_is_known_and_read():
    (turn,) = read_library_answer(AgentsResult())
    assert list(turn.events) == SAID[:1]


def test_items_of_the_responses_api_are_known_by_an_item_of_their_own():
    call = {"type": "function_call", "call_id": "c1", "name": "find", "arguments": "{}"}
    (turn,) = read_library_answer([*ITEMS, call])
    assert [type(event).__name__ for event in turn.events[2:]] == ["ToolCall"]


class Block(BaseModel, extra="allow"):
    """A block or item as the SDKs of model APIs have them."""

    type: str


def test_messages_that_hold_the_objects_of_an_sdk_are_known_by_a_block_of_their_own():
    answer = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [Block(type="tool_use", id="t1", name="f", input={})]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}]},
    ]
    (turn,) = read_library_answer(answer)
    assert [type(event).__name__ for event in turn.events] == [
        "UserMessage", "ToolCall", "ToolResult",
    ]  # fmt: skip


def test_items_may_be_the_objects_of_an_sdk():
    call = Block(type="function_call", call_id="c1", name="find", arguments="{}")
    (turn,) = read_library_answer([call])
    assert [event.call_id for event in turn.events] == ["c1"]


def test_one_message_of_langchain_is_an_answer_too():
    (turn,) = read_library_answer(LANGCHAIN[1])
    assert list(turn.events) == SAID[1:]


@pytest.mark.parametrize("answer", [None, "text", b"", 3, [], {}, ITEMS, {"messages": ITEMS}])
def test_any_other_value_is_left_to_whoever_asked(answer):
    assert read_library_answer(answer) is None


def test_no_library_is_imported_to_know_its_answers():
    code = (
        "import sys, harness.messages.library_answers\n"
        "print([m for m in ('langchain_core', 'agents', 'pydantic_ai', 'pydantic', 'openai')"
        " if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
