"""Laws of conversations that are written as Chat Completions messages."""

from hypothesis import given
from hypothesis import strategies as st
from property.strategies import chat_messages, trajectories

from harness.messages.chat import read_turns
from harness.messages.chat_writing import write_messages
from harness.types.events import UserMessage
from harness.types.trajectories import Trajectory


@given(st.lists(chat_messages(), max_size=8))
def test_what_is_written_is_what_is_read(messages):
    turns = read_turns(messages)
    written = write_messages(Trajectory(turns=turns))
    assert read_turns(written.messages) == turns
    assert not written.left_out


@given(trajectories)
def test_every_event_is_written_or_counted(trajectory):
    written = write_messages(trajectory)
    said = [event.text for event in trajectory.events() if isinstance(event, UserMessage)]
    assert [one["content"] for one in written.messages if one["role"] == "user"] == said
    assert sum(written.left_out.values()) <= len(list(trajectory.events())) + len(trajectory.turns)
