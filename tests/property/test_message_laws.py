"""Laws of messages: reading is total, pieces give the whole, pairing goes by id."""

import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from property.strategies import (
    chat_messages,
    chat_replies,
    foreign_json,
    given_ids,
    message_keys,
    short_texts,
    tool_names,
)

from harness.messages.arguments import read_arguments
from harness.messages.chat import read_turns
from harness.messages.chunks import ReplyBuilder
from harness.messages.completions import read_completion
from harness.messages.pairing import name_results
from harness.messages.server_sent import EventData
from harness.types.events import ToolCall, ToolResult
from harness.types.trajectories import Trajectory, Turn


def attempt(read, *args):
    """Give what was read; None where it was refused, in the one way there is."""
    try:
        return read(*args)
    except ValueError:
        return None


@given(st.lists(chat_messages(), max_size=8))
def test_no_message_begins_a_turn_but_the_user_s(conversation):
    turns = read_turns(conversation)
    asked = sum(message["role"] == "user" for message in conversation)
    assert len(turns) == max(asked, 1 if conversation else 0)
    for turn in turns:
        steps = [event.step for event in turn.events if event.step is not None]
        assert sorted(set(steps)) == list(range(len(turn.steps)))


@given(foreign_json)
def test_any_json_as_messages_is_read_or_refused_in_words(value):
    read_and_store(value)


def read_and_store(value):
    """Read messages, or not; what was read can be stored."""
    turns = attempt(read_turns, value) or ()
    written = msgspec.json.encode(Trajectory(turns=turns))
    assert msgspec.json.decode(written, type=Trajectory) == Trajectory(turns=turns)


@given(st.lists(st.dictionaries(message_keys, foreign_json, max_size=6), max_size=4))
def test_any_objects_as_messages_are_read_or_refused_in_words(value):
    read_and_store(value)


@given(foreign_json, st.lists(foreign_json, max_size=4))
def test_any_answer_of_an_endpoint_is_read_or_refused_in_words(body, chunks):
    builder = ReplyBuilder()
    for chunk in chunks:
        attempt(builder.add, chunk)
    for reply in (attempt(builder.reply), attempt(read_completion, body)):
        assert reply is None or reply.message["role"] == "assistant"


@given(foreign_json)
def test_any_arguments_are_read_or_refused_and_can_be_stored(raw):
    found = attempt(read_arguments, raw)
    if found is None:
        assert not isinstance(raw, str)
        return
    msgspec.json.encode([found.value, found.text])


@given(chat_replies(), st.integers(1, 7))
def test_a_reply_in_pieces_is_the_reply_as_a_whole(message, size):
    builder = ReplyBuilder()
    for delta in pieces(message, size):
        builder.add({"choices": [{"index": 0, "delta": delta}]})
    whole = read_completion({"choices": [{"message": message}]})
    assert builder.reply().message == whole.message


def pieces(message, size):
    """Cut a message into deltas as endpoints do: texts and arguments into pieces of a size."""
    yield {"role": "assistant", "name": message.get("name")}
    for key in ("content", "reasoning_content", "refusal"):
        text = message.get(key)
        if text is not None:
            yield {key: ""}
            yield from ({key: text[at : at + size]} for at in range(0, len(text), size))
    for index, call in enumerate(message.get("tool_calls", [])):
        function = call["function"]
        text = function["arguments"]
        yield {"tool_calls": [{**call, "index": index, "function": {**function, "arguments": ""}}]}
        for at in range(0, len(text), size):
            part = {"index": index, "function": {"arguments": text[at : at + size]}}
            yield {"tool_calls": [part]}


@given(
    st.lists(foreign_json.map(json.dumps), max_size=5), st.integers(1, 9), st.sampled_from("nrb")
)
def test_an_event_stream_is_the_same_however_it_arrives(texts, size, end):
    line_end = {"n": "\n", "r": "\r", "b": "\r\n"}[end]
    data = "".join(f"data: {text}{line_end * 2}" for text in texts).encode()
    events = EventData()
    found = [t for at in range(0, len(data), size) for t in events.feed(data[at : at + size])]
    assert [*found, *events.end()] == texts


EVENTS = st.one_of(
    st.builds(ToolCall, call_id=st.none() | given_ids, name=tool_names, arguments=st.just({})),
    st.builds(
        ToolResult, call_id=st.none() | given_ids, name=st.none() | tool_names, output=short_texts
    ),
)
TURNS = st.lists(
    st.builds(lambda events: Turn(events=tuple(events)), st.lists(EVENTS, max_size=6)), max_size=4
)


@given(TURNS)
def test_a_result_with_an_id_has_the_name_of_the_latest_earlier_call_with_it(turns):
    latest = {}
    for turn in name_results(turns):
        for event in turn.events:
            if isinstance(event, ToolCall):
                latest[event.call_id] = event.name
            elif event.call_id is not None:
                assert event.name == latest.get(event.call_id)


@given(TURNS)
def test_pairing_is_by_what_stands_before_and_ends_at_once(turns):
    named = name_results(turns)
    assert name_results(named) == named
    assert name_results(turns[:1]) == named[:1]
    blank = [
        replace(turn, events=tuple(
            replace(e, name=None) if isinstance(e, ToolResult) else e for e in turn.events
        ))
        for turn in turns
    ]  # fmt: skip
    assert name_results(blank) == named


@given(TURNS)
def test_a_result_without_an_id_answers_a_call_of_its_own_turn(turns):
    for turn in name_results(turns):
        made = 0
        for event in turn.events:
            made += isinstance(event, ToolCall)
            if isinstance(event, ToolResult) and event.call_id is None and event.name:
                made -= 1
                assert made >= 0
