"""Laws of Letta's messages: reading is total, streams give the whole, what is written is read."""

import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from property.strategies import (
    letta_histories,
    letta_json,
    letta_objects,
    letta_replies,
    letta_tokens,
    trajectories,
)

from harness.messages.letta_chunks import LettaChunks
from harness.messages.letta_code_lines import LettaCodeLines
from harness.messages.letta_models import build_letta_models
from harness.messages.letta_records import write_letta_records
from harness.messages.letta_turns import LettaTurn, read_letta_turns
from harness.types.trajectories import Trajectory, Turn


def attempt(read, *args):
    """Give what was read; nothing where it was refused, in the one way there is."""
    try:
        return read(*args)
    except ValueError:
        return ()


def store(turns):
    """See that what was read can be stored."""
    written = msgspec.json.encode(Trajectory(turns=turns))
    assert msgspec.json.decode(written, type=Trajectory) == Trajectory(turns=turns)


@given(letta_json | st.lists(letta_objects, max_size=5), st.booleans())
def test_any_json_as_a_history_is_read_or_refused_in_words(value, reminders):
    store(attempt(lambda: read_letta_turns(value, reminders=reminders)))


@given(letta_json | st.fixed_dictionaries({"messages": st.lists(letta_objects, max_size=5)}))
def test_any_json_as_a_blocking_reply_is_read_or_refused_in_words(value):
    turn = LettaTurn()
    store((Turn(events=attempt(turn.read_reply, value), steps=turn.steps.all),))


@given(st.lists(letta_json | letta_objects, max_size=8), st.none() | st.booleans())
def test_any_json_as_a_stream_is_read_or_refused_in_words(values, parallel):
    turn = LettaTurn()
    chunks = LettaChunks(turn, parallel=parallel)
    events = [event for value in values for event in attempt(chunks.feed, value)]
    events += attempt(chunks.finish)
    store((Turn(events=tuple(events), steps=turn.steps.all),))
    assert chunks.finish() == ()


@given(st.lists((letta_json | letta_objects).map(json.dumps) | st.text() | st.binary(), max_size=8))
def test_any_lines_of_letta_code_are_read_or_refused_in_words(lines):
    reader = LettaCodeLines()
    events = [event for line in lines for event in attempt(reader.feed, line)]
    events += attempt(reader.finish)
    store((Turn(events=tuple(events), steps=reader.steps),))


@given(letta_replies(), st.integers(1, 5), st.booleans())
def test_a_stream_gives_what_the_blocking_reply_gives(reply, size, by_tokens):
    records = [
        piece
        for message in reply["messages"]
        for piece in (letta_tokens(message, size) if by_tokens else [message])
    ]
    whole, streamed = LettaTurn(), LettaTurn()
    chunks = LettaChunks(streamed)
    ends = [reply["stop_reason"], reply["usage"]]
    events = [event for record in [*records, *ends] for event in chunks.feed(record)]
    assert (*events, *chunks.finish()) == whole.read_reply(reply)
    assert streamed.steps.all == whole.steps.all
    assert chunks.unexecuted == ()


@given(letta_histories())
def test_what_is_written_as_letta_messages_reads_as_the_same_events(messages):
    turns = read_letta_turns(messages)
    records = write_letta_records(Trajectory(turns=turns))
    again = read_letta_turns([record for turn in records for record in turn])
    assert undated(again) == undated(turns)


def undated(turns):
    """Leave out when events happened."""
    return [[replace(event, at=None) for event in turn.events] for turn in turns]


@given(letta_histories(), st.data())
def test_repeated_pages_and_either_order_give_the_same_turns(messages, data):
    dated = [
        {**message, "date": f"2026-01-01T00:00:{number // 2:02}Z"}
        for number, message in enumerate(messages)
    ]
    begin = data.draw(st.integers(0, len(dated)))
    paged = [*dated, *dated[begin:]]
    expected = read_letta_turns(dated)
    assert read_letta_turns(paged) == expected
    if len(dated) > 2:
        assert read_letta_turns([*dated[::-1], *dated[::-1][begin:]]) == expected


@given(trajectories)
def test_any_trajectory_is_written_as_letta_messages(trajectory):
    records = attempt(write_letta_records, trajectory)
    again = attempt(write_letta_records, trajectory)
    assert records == again
    models = build_letta_models(records)
    assert [[model.message_type for model in turn] for turn in models] == [
        [record["message_type"] for record in turn] for turn in records
    ]
