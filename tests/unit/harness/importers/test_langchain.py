import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign, read_one, rows

from harness.types.errors import InputError
from harness.types.events import ToolResult
from harness.types.trajectories import Step, Usage

FILES = FOREIGN / "langchain"


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_files_of_the_format_are_told_by_their_shape(path):
    assert find_foreign(path) == "langchain"


def test_a_call_that_is_listed_twice_counts_once_and_an_output_that_is_no_json_is_kept_as_text():
    record = read_one(FILES / "constructors.json")
    assert rows(record) == [
        ("user", "What do the orders come to?"),
        ("reasoning", "run_query it is."),
        ("call", "fc_1", "run_query", {"sql": "SELECT 1"}),
        ("result", "fc_1", "run_query", "[(Decimal('41.50'),)]"),
        ("assistant", "They come to $41.50."),
    ]
    assert (record.sample_id, record.model) == ("orders-1", "small-1")
    assert (record.outcomes, record.fields["remaining_steps"]) == ({"resolved": True}, 20)


def test_a_message_brings_its_numbers_its_agent_and_what_its_tool_returned_beside_the_text():
    (turn,) = read_one(FILES / "constructors.json").trajectory.turns
    numbers = Usage(input_tokens=9, output_tokens=4)
    assert turn.steps == (Step(usage=numbers, model="small-1", stop_reason="tool_calls"), Step())
    assert turn.events[-1].agent == "clerk"
    assert [e.structured for e in turn.events if isinstance(e, ToolResult)] == [{"rows": 1}]


def test_blocks_of_other_kinds_repeated_calls_and_calls_that_are_no_json():
    record = read_foreign(FILES / "flat.jsonl")[0]
    assert rows(record) == [
        ("system", "system", "Be brief."),
        ("user", "Hi"),
        ("system", "image_url", ""),
        ("reasoning", "Greet."),
        ("assistant", "Hello."),
        ("call", "toolu_1", "wave", {"hand": "left"}),
        ("call", "toolu_2", "nod", '{"times": '),
        ("failed", "toolu_1", "wave", "no hand"),
        ("system", "remove", ""),
        ("system", "message", ""),
    ]
    assert record.unread == {"message": 1}


def test_a_state_of_a_thread_and_the_former_function_call_are_read():
    record = read_foreign(FILES / "flat.jsonl")[1]
    assert rows(record) == [("user", "Bye"), ("assistant", "Bye."), ("call", None, "leave", {})]


def test_chunks_of_one_message_are_joined_and_pieces_of_arguments_are_no_calls():
    record = read_one(FILES / "chunks.json")
    assert rows(record) == [
        ("user", "Where is P-7?"),
        ("assistant", "One moment."),
        ("call", "c1", "find", {"id": "P-7"}),
    ]
    assert record.unread == {}


def test_the_two_parts_of_a_run_are_joined_and_the_last_model_call_has_the_conversation():
    record = read_one(FILES / "trace.json")
    assert rows(record) == [("user", "Hi?"), ("assistant", "Hello.")]
    assert (record.sample_id, record.model, record.seconds) == ("ex-1", "small-1", 2.5)
    assert record.outcomes == {"helpful": 0.5}


def test_every_trace_of_a_file_is_a_conversation_with_messages_or_without():
    first, second, third = read_foreign(FILES / "runs.jsonl")
    assert rows(first) == [("user", "howdy"), ("assistant", "Howdy.")]
    assert (first.model, first.usage) == ("small-2", Usage(input_tokens=9, output_tokens=3))
    assert rows(second) == [("user", "howdy"), ("assistant", "Hi.")]
    assert rows(third) == [("user", '{"a":1,"b":2}'), ("error", "agent_crash", "ValueError: no")]
    assert (third.status, third.failure.code) == ("agent_failure", "agent_crash")


@pytest.mark.parametrize("text", ["3", '{"a": 1}', '[{"messages": 3}]', '[{"id": "a"}]'])
def test_a_record_without_messages_is_refused_with_its_place(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.json"):
        read_foreign(path, "langchain")
