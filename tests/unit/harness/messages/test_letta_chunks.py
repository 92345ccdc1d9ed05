import json

import pytest
from fakes.factories import DATA
from msgspec.structs import replace

from harness.messages.letta_chunks import LettaChunks, read_letta_stream
from harness.messages.letta_replies import LettaFailure
from harness.messages.letta_turns import LettaTurn
from harness.types.events import AssistantMessage, Reasoning, ToolCall, ToolResult
from harness.types.trajectories import Usage


def load(name):
    text = (DATA / "letta" / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def read(records, **options):
    chunks = LettaChunks(LettaTurn(), **options)
    events = [event for record in records for event in chunks.feed(record)]
    return [*events, *chunks.finish()], chunks


def of(kind, **fields):
    return {"message_type": kind, "id": "m", "otid": kind, "step_id": "s", **fields}


def said(text, **more):
    return of("assistant_message", content=text, **more)


def delta(call_id, arguments=None, name=None, kind="tool_call_message"):
    call = {"name": name, "arguments": arguments, "tool_call_id": call_id}
    return of(kind, tool_call=call, tool_calls=call)


def result(*call_ids):
    entries = [{"tool_return": one, "status": "success", "tool_call_id": one} for one in call_ids]
    return of("tool_return_message", id="r", **entries[0], tool_returns=entries)


STOP = {"message_type": "stop_reason", "stop_reason": "end_turn"}


def shape(events):
    """Leave out what differs from run to run."""
    return [
        replace(event, at=None, call_id=None) if isinstance(event, ToolCall | ToolResult)
        else replace(event, at=None)
        for event in events
    ]  # fmt: skip


def test_steps_and_tokens_give_the_same_events():
    by_steps, by_tokens = (read(load(f"{n}_stream.jsonl"))[0] for n in ("step", "token"))
    assert len(by_steps) == 5
    texts = [str(shape(events)).replace("3.2.0", "3.1.0") for events in (by_steps, by_tokens)]
    assert texts[0] == texts[1]


def test_reasoning_and_text_of_one_reply_are_told_apart():
    events, chunks = read(load("reasoning_stream.jsonl"))
    assert shape(events) == [
        Reasoning(text="Scripted private reasoning about the question.", step=0),
        AssistantMessage(text="echo: think, then say something", step=0),
    ]
    assert chunks.reply.stop_reason == "end_turn"
    assert chunks.reply.usage == Usage(input_tokens=1467, output_tokens=20)


def test_a_streamed_call_that_the_server_dropped_is_no_event():
    events, chunks = read(load("dropped_call_stream.jsonl"))
    assert [(type(e), getattr(e, "call_id", None)) for e in events] == [
        (ToolCall, "call-1"), (ToolResult, "call-1"), (AssistantMessage, None)
    ]  # fmt: skip
    (dropped,) = chunks.unexecuted
    assert (dropped.call_id, dropped.arguments["branch"]) == ("call-2", "hotfix")


def test_calls_of_a_stream_that_is_cut_are_all_kept():
    records = load("dropped_call_stream.jsonl")
    cut = next(n for n, one in enumerate(records) if one["message_type"] == "tool_return_message")
    events, chunks = read(records[: cut - 1])
    assert [call.call_id for call in events] == ["call-1", "call-2"]
    assert events[1].arguments_text == events[1].arguments  # cut off: no JSON
    assert chunks.unexecuted == ()
    assert chunks.reply.stop_reason is None


def test_an_agent_of_one_call_at_a_time_waits_for_approval_of_the_first():
    records = [delta(one, "{}", "pay", kind="approval_request_message") for one in ("c1", "c2")]
    kept, chunks = read(records, parallel=False)
    assert [e.data for e in kept[1:]] == [{"tool_call_ids": ["c1"]}]
    assert [call.call_id for call in chunks.unexecuted] == ["c2"]
    assert len(read(records)[0]) == 3


def test_results_in_messages_of_their_own_keep_all_calls():
    records = [delta("c1", "{}", "a"), delta("c2", "{}", "b"), result("c2"), result("c1"), STOP]
    events, chunks = read(records)
    assert [e.call_id for e in events] == ["c1", "c2", "c2", "c1"]
    assert chunks.unexecuted == ()


@pytest.mark.parametrize(
    ("pieces", "written"),
    [
        (['{"q"', ":1}"], '{"q": 1}'),
        (['{"q": "\u00e9"}'], '{"q": "\\u00e9"}'),
        (['{"q": '], "{}"),
        ([], "{}"),
        (['{"q": 1}{"q": 2}'], '{"q": 1}'),
        (['"{\\"q\\": 1}"'], '{"q": 1}'),
        (["[1]"], "{}"),
        (["[" * 100_000], "{}"),
    ],
)
def test_a_call_that_was_made_has_the_arguments_that_the_server_writes(pieces, written):
    records = [delta("c1", name="a"), *(delta("c1", piece) for piece in pieces), result("c1")]
    assert read(records)[0][0].arguments_text == written
    waiting = read(records[:-1])[0][0]
    assert waiting.arguments_text == "".join(pieces)


def test_events_are_given_as_soon_as_they_are_complete():
    chunks = LettaChunks(LettaTurn())
    records = [said("a"), said("b"), delta("c1", "{}", "f"), result("c1"), said("c", id="n"), STOP]
    assert [len(chunks.feed(record)) for record in records] == [0, 0, 1, 2, 0, 1]
    assert chunks.finish() == ()


def test_a_whole_call_is_an_event_at_once():
    call = {"name": "f", "arguments": "{}", "tool_call_id": "c1"}
    chunks = LettaChunks(LettaTurn())
    assert len(chunks.feed(of("tool_call_message", tool_call=call, tool_calls=[call]))) == 1


@pytest.mark.parametrize(
    "parts", [["a", "b"], [[{"type": "text", "text": "a"}], "b"], ["ab", None]]
)
def test_texts_are_joined_in_any_form(parts):
    assert [e.text for e in read([said(part) for part in parts])[0]] == ["ab"]


def test_messages_of_other_ids_are_not_joined():
    others = [said("a"), said("b", otid="2"), said("c", id=None), said("d", id=None)]
    assert [event.text for event in read(others)[0]] == ["a", "b", "c", "d"]


def test_pings_say_nothing_and_part_nothing():
    assert [e.text for e in read([said("a"), of("ping"), said("b")])[0]] == ["ab"]


def test_a_resumed_stream_repeats_nothing():
    records = [said(text, run_id="r", seq_id=n) for n, text in enumerate("abc")]
    assert [e.text for e in read([*records, *records[1:]])[0]] == ["abc"]
    assert [e.text for e in read([said("a", seq_id=1), said("a", seq_id=1)])[0]] == ["aa"]


def test_a_failure_in_a_stream_is_an_event_and_part_of_the_reply():
    events, reply = read_letta_stream(load("failed_stream.jsonl"), LettaTurn())
    assert [event.kind for event in events] == ["llm_rate_limit"]
    assert "RATE_LIMIT_EXCEEDED" in events[0].message
    assert reply.stop_reason == "llm_api_error"
    assert isinstance(reply.failure, LettaFailure)
    assert (reply.failure.kind, reply.run_id) == ("llm_rate_limit", "run-1")


def test_a_stream_that_ends_without_an_answer_has_no_event_but_a_step():
    turn = LettaTurn()
    usage = {"message_type": "usage_statistics", "prompt_tokens": 5, "step_count": 1}
    events, reply = read_letta_stream([of("ping"), STOP, usage], turn)
    assert (events, reply.stop_reason) == ((), "end_turn")
    assert [(s.usage.input_tokens, s.stop_reason) for s in turn.steps.all] == [(5, "end_turn")]


@pytest.mark.parametrize(
    ("record", "error"),
    [
        (3, "record 1: a message must be an object, got a number"),
        (of("tool_call_message", tool_call=[1]),
         "record 1: tool_call_message: tool_call must be an object, got a list"),
        (said(3), "record 1: assistant_message: content must be a text or a list of blocks"),
        (of("reasoning_message", reasoning=3), "record 1: reasoning_message: reasoning must be"),
        (of("tool_return_message", tool_returns=3),
         "record 1: tool_return_message: tool_returns must be a list, got a number"),
    ],
)  # fmt: skip
def test_a_broken_record_is_refused_with_its_place(record, error):
    with pytest.raises(ValueError, match=f"^{error}"):
        read_letta_stream([said("a"), record], LettaTurn())


def test_what_came_before_a_broken_record_is_kept():
    chunks = LettaChunks(LettaTurn())
    assert chunks.feed(said("a")) == ()
    with pytest.raises(ValueError, match="must be a text"):
        chunks.feed(said(3))
    assert [event.text for event in chunks.finish()] == ["a"]
