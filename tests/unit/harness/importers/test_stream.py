import json

import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign, read_one, rows

from harness.types.errors import InputError
from harness.types.trajectories import Step, Usage

FILES = FOREIGN / "stream"


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_files_of_the_format_are_told_by_their_shape(path):
    assert find_foreign(path) == "stream"


def steps(record):
    return [step for turn in record.trajectory.turns for step in turn.steps]


def test_chunks_are_joined_to_replies_and_another_id_is_another_reply():
    record = read_one(FILES / "compatible.chunks.txt")
    assert rows(record) == [
        ("reasoning", "find it"),
        ("assistant", "Reading."),
        ("call", "c1", "read", {"path": "a.txt"}),
        ("assistant", "Done."),
    ]
    numbers = Usage(input_tokens=7, output_tokens=3)
    assert steps(record) == [
        Step(usage=numbers, model="small-1", stop_reason="tool_calls"),
        Step(model="small-1", stop_reason="stop"),
    ]
    assert (record.status, record.model, record.unread) == ("completed", "small-1", {})


def test_a_call_whose_arguments_were_cut_off_is_never_read_as_if_it_were_whole():
    record = read_one(FILES / "cut_call.sse")
    cut = "the stream ended before the arguments of write were whole"
    assert rows(record) == [
        ("assistant", "I write it."),
        ("call", "toolu_1", "count", {"n": 1}),
        ("call", "toolu_2", "write", "12"),
        ("system", "incomplete_call", cut),
        ("system", "content_block_delta", ""),
    ]
    assert record.unread == {"content_block_delta": 1}
    numbers = Usage(input_tokens=9, output_tokens=20)
    assert steps(record) == [Step(usage=numbers, model="small-1", stop_reason="max_tokens")]


def test_arguments_that_come_in_pieces_by_path_are_put_together():
    record = read_one(FILES / "google.jsonl")
    assert rows(record)[:-1] == [
        ("reasoning", "Look it up."),
        ("assistant", "Two cities."),
        ("call", None, "weather", {"places": [{"name": "Boston"}], "days": 2}),
        ("call", "f2", "weather", {"place": "Ulm"}),
        ("call", "code_execution-1", "code_execution", {"language": "PYTHON", "code": "1/0"}),
        ("failed", "code_execution-1", "code_execution", "ZeroDivisionError"),
    ]
    assert record.unread == {"event": 1}, "a place far beyond the end of a list is none"
    numbers = Usage(input_tokens=26, output_tokens=30)
    assert steps(record) == [Step(usage=numbers, model="small-1", stop_reason="STOP")]


def test_the_plan_of_a_call_is_no_answer_and_no_arguments_are_none():
    record = read_one(FILES / "cohere.jsonl")
    assert rows(record) == [
        ("reasoning", "I will ask."),
        ("assistant", "One moment."),
        ("call", "t1", "clock", {}),
        ("call", "t2", "find", {"a": 1}),
    ]
    numbers = Usage(input_tokens=14, output_tokens=4)
    assert steps(record) == [Step(usage=numbers, stop_reason="TOOL_CALL")]


def test_a_stream_without_its_end_ends_in_an_error_and_keeps_what_came():
    record = read_one(FILES / "responses_cut.sse")
    assert rows(record) == [
        ("assistant", "Hello."),
        ("call", "c1", "find", '{"id":'),
        ("error", "stream_cut", "the stream has no end"),
    ]
    assert (record.status, record.failure.code) == ("target_error", "stream_cut")


def test_the_last_event_of_a_response_holds_all_of_it():
    record = read_one(FILES / "responses_whole.sse")
    assert (rows(record), record.status) == ([("assistant", "Hi.")], "completed")
    assert steps(record)[0].usage == Usage(input_tokens=4, output_tokens=2)


def test_what_a_stream_reports_is_the_error_in_which_it_ends():
    record = read_one(FILES / "overloaded.sse")
    assert rows(record) == [("error", "overloaded", "[overloaded_error] too busy")]
    assert (record.status, record.failure.code) == ("target_error", "overloaded")


def test_a_recorded_exchange_may_hold_a_stream(tmp_path):
    asked = {"messages": [{"role": "user", "content": "Write."}]}
    path = tmp_path / "a.json"
    body = (FILES / "cut_call.sse").read_text(encoding="utf-8")
    url = "https://models.example.invalid/v1/messages"
    record = {"url": url, "status": 200, "request": asked, "response": {"body": body}}
    path.write_text(json.dumps(record), encoding="utf-8")
    assert find_foreign(path) == "anthropic"
    assert rows(read_one(path))[:3] == [
        ("user", "Write."),
        ("assistant", "I write it."),
        ("call", "toolu_1", "count", {"n": 1}),
    ]


@pytest.mark.parametrize("name", ["compatible.chunks.txt", "google.jsonl", "cohere.jsonl"])
def test_a_list_of_events_is_read_like_its_lines(tmp_path, name):
    path = tmp_path / "a.json"
    text = (FILES / name).read_text(encoding="utf-8")
    path.write_text(f"[{','.join(text.splitlines())}]", encoding="utf-8")
    assert find_foreign(path) == "stream"
    assert rows(read_one(path)) == rows(read_one(FILES / name))


@pytest.mark.parametrize("text", ["3", '{"a": 1}', "data: x\n\n", "data: 3"])
def test_a_file_without_events_is_refused_with_its_name(tmp_path, text):
    path = tmp_path / "a.sse"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.sse"):
        read_foreign(path, "stream")
