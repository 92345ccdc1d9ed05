import pytest
from pydantic import BaseModel

from harness.messages.langchain_messages import is_langchain_state, read_langchain_turns
from harness.types.events import AssistantMessage, ToolCall, ToolResult, UserMessage


class Message(BaseModel, extra="allow"):
    """A message object with the attributes that those of langchain-core have."""

    type: str
    content: object
    additional_kwargs: dict = {}


SPOKEN = {"content": "", "tool_calls": [{"name": "find", "args": {"id": 1}, "id": "c1"}]}
FOUND = {"content": "Ulm", "tool_call_id": "c1", "status": "success"}
OBJECTS = [
    Message(type="human", content="Where?"),
    Message(type="ai", **SPOKEN),
    Message(type="tool", **FOUND),
    Message(type="ai", content="In Ulm."),
]
FLAT = [
    {"type": "human", "content": "Where?"},
    {"type": "ai", **SPOKEN},
    {"type": "tool", **FOUND},
    {"type": "ai", "content": "In Ulm."},
]
MIXED = [("human", "Where?"), OBJECTS[1], {"role": "tool", **FOUND}, ("ai", "In Ulm.")]
EXPECTED = (
    UserMessage(text="Where?"),
    ToolCall(call_id="c1", name="find", arguments={"id": 1}, step=0),
    ToolResult(call_id="c1", name="find", output="Ulm", step=0),
    AssistantMessage(text="In Ulm.", step=1),
)


class State(BaseModel):
    messages: list


@pytest.mark.parametrize(
    "state",
    [OBJECTS, tuple(OBJECTS), FLAT, MIXED, {"messages": OBJECTS}, State(messages=OBJECTS)],
    ids=["objects", "a tuple", "mappings", "mixed", "a state", "a state that is an object"],
)
def test_messages_are_known_and_read_in_every_spelling(state):
    assert is_langchain_state(state)
    (turn,) = read_langchain_turns(state)
    assert turn.events == EXPECTED


@pytest.mark.parametrize(
    "value",
    [
        None, "text", 3, [], {}, [{"role": "user", "content": "Hi"}], [("user", "Hi")],
        {"messages": [{"role": "user", "content": "Hi"}]}, {"messages": "human"}, Message,
        [{"type": "message", "role": "assistant", "content": []}],
    ],
)  # fmt: skip
def test_what_other_libraries_return_is_not_taken_for_theirs(value):
    assert not is_langchain_state(value)
