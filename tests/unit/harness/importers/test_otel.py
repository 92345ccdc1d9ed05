import json

import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign, read_one, rows

from harness.types.errors import InputError
from harness.types.trajectories import Step, Usage

FILES = FOREIGN / "otel"


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_files_of_the_format_are_told_by_their_shape(path):
    assert find_foreign(path) == "otel"


def test_messages_that_stand_in_events_and_in_attributes_count_once():
    record = read_one(FILES / "conventions.json")
    assert rows(record) == [
        ("system", "invoke_agent", "invoke_agent depots"),
        ("system", "system", "Be brief."),
        ("user", "Are depots 4 and 5 open?"),
        ("system", "uri", ""),
        ("reasoning", "Look."),
        ("assistant", "Let me look."),
        ("call", "c1", "look", {"depot": 4}),
        ("call", "c2", "look", {"depot": 5}),
        ("result", "c1", "look", "closed"),
        ("error", "tool_call_failed", "TimeoutError: no answer"),
        ("system", "retry_prompt", RETRY),
        ("system", "narrator", ""),
        ("assistant", "Depot 4 is closed."),
        ("system", "span", "POST"),
    ]
    assert record.unread == {"narrator": 1}


RETRY = "Validation feedback:\nPlease give a number.\n\nFix the errors and try again."


def test_a_reply_has_its_numbers_and_a_conversation_its_evaluations():
    record = read_one(FILES / "conventions.json")
    usage = Usage(input_tokens=9, output_tokens=3)
    first = Step(usage=usage, model="small-1-2031", stop_reason="tool_calls", seconds=1.0)
    second = Step(usage=Usage(input_tokens=20), model="small-1", seconds=1.0)
    assert record.trajectory.turns[0].steps == (first, second)
    assert (record.model, record.seconds, record.outcomes) == ("small-1", 7.0, {"helpful": 0.5})
    assert (record.fields["trace_id"], record.fields["conversation_id"]) == ("t1", "conv1")
    assert "gen_ai.input.messages" not in record.fields["attributes"]


def test_what_an_agent_says_inside_a_tool_is_a_sub_agent_s_and_comes_before_the_result():
    record = read_one(FILES / "sub_agent.json")
    assert rows(record) == [
        ("system", "invoke_agent", "invoke_agent boss"),
        ("user", "Is depot 4 open?"),
        ("call", "c1", "ask_clerk", {}),
        ("system", "invoke_agent", "invoke_agent clerk"),
        ("system", "agent_prompt", "Look at depot 4."),
        ("assistant", "It is closed."),
        ("result", "c1", "ask_clerk", "closed"),
        ("assistant", "No."),
    ]
    inner = [e for e in record.trajectory.events() if e.parent_call_id == "c1"]
    assert [event.agent for event in inner] == ["clerk", "clerk"]


def test_histories_of_an_agent_are_the_conversation_where_no_model_is_recorded():
    record = read_one(FILES / "agent_histories.json")
    assert rows(record) == [
        ("system", "system", "Be brief."),
        ("user", "Is depot 4 open?"),
        ("call", "c1", "look", {"depot": 4}),
        ("result", "c1", "look", '{"state":"closed"}'),
        ("assistant", "No."),
        ("user", "And 5?"),
        ("assistant", "Yes."),
        ("error", "error", "error"),
    ]
    assert (record.model, record.status, record.seconds) == ("small-1", "target_error", 5.0)


def test_ids_that_the_model_never_sees_and_wrapped_results_are_matched():
    record = read_one(FILES / "adk.json")
    assert [row for row in rows(record) if row[0] != "system"] == [
        ("user", "What is 3 times 4?"),
        ("reasoning", "Hm."),
        ("call", "call-1", "times", {"a": 3, "b": 4}),
        ("result", "call-1", "times", "12"),
        ("assistant", "12."),
    ]


def test_flattened_messages_are_read_in_the_order_of_their_numbers():
    record = read_one(FILES / "openinference.json")
    assert rows(record) == [
        ("system", "CHAIN", "LangGraph"),
        ("system", "system", "Be brief."),
        ("user", "Is depot 4 open?"),
        ("call", "c1", "look", {"depot": 4}),
        ("call", "c2", "look", {"depot": 5}),
        ("call", "call-1", "note", {}),
        ("result", "c2", "look", "open"),
        ("failed", "c1", "look", "no"),
        ("user", "Compare them."),
        ("assistant", "5 is open."),
    ]


def test_what_is_not_told_of_a_call_is_unknown_and_the_making_of_an_agent_is_no_conversation():
    record = read_one(FILES / "autogen.json")
    assert rows(record) == [
        ("system", "create_agent", "create_agent a"),
        ("system", "invoke_agent", "invoke_agent a"),
        ("call", "c1", "add", None),
    ]


def test_requests_of_otlp_with_an_event_a_message_are_joined_by_their_session():
    record = read_one(FILES / "otlp.jsonl")
    assert rows(record) == [
        ("system", "system", "Be brief."),
        ("user", "Is depot 4 open?"),
        ("call", "c1", "look", {"depot": 4}),
        ("result", "c1", "look", "closed"),
        ("error", "error", "the model is overloaded"),
    ]
    assert (record.status, record.fields["resource"]) == (
        "target_error",
        {"service.name": "depots"},
    )


def test_what_consoles_print_is_read():
    record = read_one(FILES / "console.txt")
    assert rows(record) == [
        ("user", "Is depot 4 open?"),
        ("reasoning", "Hm."),
        ("assistant", "No."),
        ("call", "span-02", "look", {"depot": 4}),
        ("result", "span-02", "look", "closed"),
    ]
    assert record.trajectory.turns[0].events[0].at.year == 2031


def span(own, parent, **more):
    return {"trace_id": "t", "span_id": own, "parent_span_id": parent, "name": "chat", **more}


def write(path, values):
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def talk(*messages):
    said = [{"role": role, "content": text} for role, text in messages]
    return {"gen_ai.operation.name": "chat", "gen_ai.input.messages": said}


def test_spans_whose_parents_run_in_a_circle_are_read(tmp_path):
    spans = [span("a", "b"), span("b", "a"), span("c", "c")]
    assert len(rows(read_one(write(tmp_path / "a.jsonl", spans)))) == 3


@pytest.mark.parametrize(
    ("requests", "users"),
    [
        # what each request holds of the conversation: all, only what is new, or its end
        ([[("user", "a")], [("user", "a"), ("assistant", "x"), ("user", "b")]], "ab"),
        ([[("user", "a")], [("user", "b")], [("user", "c")]], "abc"),
        ([[("user", "a"), ("assistant", "x")], [("assistant", "x"), ("user", "b")]], "ab"),
        ([[("user", "a")], [("user", "a")]], "a"),
        ([[("user", "a"), ("assistant", "x"), ("user", "a")]], "aa"),
        ([[("user", "a"), ("assistant", "x")], [("user", "a"), ("assistant", "y")]], "a"),
    ],
)
def test_a_request_repeats_what_was_said_however_it_holds_it(requests, users, tmp_path):
    spans = [
        span(str(n), None, start_time=n, attributes=talk(*messages))
        for n, messages in enumerate(requests)
    ]
    record = read_one(write(tmp_path / "a.jsonl", spans))
    assert "".join(row[1] for row in rows(record) if row[0] == "user") == users


def test_conversations_are_told_apart_by_their_trace(tmp_path):
    spans = [{**span("1", None, attributes=talk(("user", t))), "trace_id": t} for t in "ab"]
    records = read_foreign(write(tmp_path / "a.jsonl", [*spans, 3, {"resourceSpans": [4]}]))
    assert [record.fields["trace_id"] for record in records] == ["a", "b"]
    assert [record.unread for record in records] == [{"record": 2}, {}]


def test_a_file_without_spans_is_refused(tmp_path):
    path = write(tmp_path / "a.jsonl", [{"resourceSpans": []}])
    with pytest.raises(InputError, match=r"a\.jsonl: there are no spans"):
        read_foreign(path, "otel")
