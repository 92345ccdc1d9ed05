from fakes.factories import make_call, make_trajectory
from letta_client.types import AgentState, ToolReturnMessage
from letta_client.types.agents import AssistantMessage, ToolCallMessage, UserMessage

from harness.grading.turn_views import cut
from harness.shims.letta_views import LettaView, letta_state
from harness.types.events import UserMessage as Said
from harness.types.samples import Sample

TWO = make_trajectory([Said(text="a"), *make_call(), "first"], [Said(text="b"), "second"])


def test_a_turn_is_a_list_of_the_clients_own_messages():
    turns = LettaView(TWO).messages(TWO)
    kinds = [[type(message) for message in turn] for turn in turns]
    assert kinds == [
        [UserMessage, ToolCallMessage, ToolReturnMessage, AssistantMessage],
        [UserMessage, AssistantMessage],
    ]
    assert turns[0][1].tool_call.name == "lookup"
    assert turns[0][2].tool_return == "id=K41"
    assert turns[1][1].content == "second"


def test_messages_are_made_once_and_lists_are_each_callers_own():
    view = LettaView(TWO)
    one, two = view.messages(TWO), view.messages(TWO)
    assert one[0][0] is two[0][0]
    one[0].clear()
    one.clear()
    assert [len(turn) for turn in view.messages(TWO)] == [4, 2]


def test_a_turn_that_was_cut_out_is_the_same_turn():
    view = LettaView(TWO)
    alone = cut(Sample(id="s", input="a"), TWO, 1)
    assert view.messages(alone.trajectory) == [view.messages(TWO)[1]]


def test_no_turns_are_no_lists():
    nothing = make_trajectory([])
    assert LettaView(nothing).messages(nothing) == [[]]


def test_the_end_state_is_the_clients_own_object():
    stored = {"agent_state": {"id": "agent-1", "blocks": [{"label": "human", "value": "Ada"}]}}
    state = letta_state(stored)
    assert isinstance(state, AgentState)
    assert (state.id, state.blocks[0].label, state.blocks[0].value) == ("agent-1", "human", "Ada")
    state.blocks.clear()
    assert len(stored["agent_state"]["blocks"]) == 1


def test_what_was_not_kept_of_a_state_is_none_but_the_id_by_either_name():
    state = letta_state({"agent_state": {"agent_id": "agent-2", "blocks": []}})
    assert (state.id, state.name, state.blocks) == ("agent-2", None, [])


def test_no_end_state_is_none():
    assert letta_state({}) is None
    assert letta_state({"agent_state": None, "database": {}}) is None
