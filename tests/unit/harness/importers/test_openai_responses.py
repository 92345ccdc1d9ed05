import json

import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign, read_one, rows

from harness.types.errors import InputError
from harness.types.events import ToolCall, ToolResult
from harness.types.trajectories import Step, Usage

FILES = FOREIGN / "openai_responses"


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_files_of_the_format_are_told_by_their_shape(path):
    assert find_foreign(path) == "openai-responses"


def test_a_recorded_exchange_is_the_input_and_the_output():
    record = read_one(FILES / "exchange.json")
    assert rows(record) == [
        ("system", "instructions", "Be brief."),
        ("user", "Where is parcel P-7?"),
        ("system", "reasoning", ""),
        ("reasoning", "look it up"),
        ("assistant", "One moment."),
        ("call", "call-a", "find_parcel", {"id": "P-7"}),
        ("call", "call-b", "note", "{not json"),
        ("result", "call-a", "find_parcel", ""),
        ("result", "call-b", "note", "noted"),
        ("reasoning", "Now I know."),
        ("assistant", "In Ulm."),
    ]
    assert (record.model, record.status, record.unread) == ("small-1-2026", "completed", {})


def test_what_follows_outputs_is_the_next_step_and_a_response_carries_its_numbers():
    (turn,) = read_one(FILES / "exchange.json").trajectory.turns
    assert [e.step for e in turn.events] == [None, None, 0, 0, 0, 0, 0, 0, 0, 1, 1]
    numbers = Usage(input_tokens=30, output_tokens=4)
    assert turn.steps == (
        Step(),
        Step(usage=numbers, model="small-1-2026", stop_reason="completed"),
    )


def test_an_output_that_is_an_image_has_no_text_and_keeps_the_image():
    record = read_one(FILES / "exchange.json")
    result = next(e for e in record.trajectory.events() if isinstance(e, ToolResult))
    assert result.structured[0]["image_url"] == "https://example.invalid/a.png"


def test_a_refused_request_ends_the_conversation_in_an_error():
    record = read_one(FILES / "refused.json")
    message = "[invalid_request_error] No output found for call-a."
    assert rows(record) == [("user", "Where is parcel P-7?"), ("error", "bad_request", message)]
    assert (record.status, record.failure.code) == ("target_error", "bad_request")


def test_a_response_that_refers_to_the_one_before_goes_on_with_it_and_another_is_another():
    first, second = read_foreign(FILES / "chained.jsonl")
    assert rows(first) == [
        ("user", "Find P-7."),
        ("call", "call-a", "find_parcel", {}),
        ("result", "call-a", "find_parcel", "Ulm"),
        ("assistant", "It is in Ulm."),
    ]
    assert rows(second) == [("user", "Find P-7.")]
    assert second.trajectory.turns[0].steps[0].stop_reason == "max_output_tokens"
    assert (first.place[-2:], second.place[-2:]) == (":1", ":3")


def test_tools_that_the_provider_runs_are_calls_and_what_they_gave_back_is_a_result():
    record = read_one(FILES / "provider_tools.json")
    assert [row for row in rows(record) if row[0] in {"call", "result", "failed", "error"}] == [
        ("call", "ws_1", "web_search", {"type": "search", "query": "parcels"}),
        ("call", "mcp_1", "count", {"of": "parcels"}),
        ("result", "mcp_1", "count", "12"),
        ("call", "mcp_2", "weigh", {}),
        ("failed", "mcp_2", "weigh", '{"message":"no scale"}'),
        ("call", "ci_1", "code_interpreter", {"code": "print(6*2)"}),
        ("result", "ci_1", "code_interpreter", "12\n"),
        ("call", "ig_1", "image_generation", {}),
        ("error", "tool_call_failed", "image_generation failed; no output is recorded"),
        ("call", "prog", "program", {"code": "count()"}),
        ("call", "call-c", "count", {}),
        ("result", "prog", "program", "12"),
        ("call", "sh_1", "shell", {"commands": ["ls"]}),
        ("result", "sh_1", "shell", "a\n\nb"),
        ("call", "tool_search-1", "tool_search", {"query": "depot"}),
        ("result", "tool_search-1", "tool_search", "[]"),
    ]


def test_a_call_that_a_program_made_names_its_program():
    record = read_one(FILES / "provider_tools.json")
    calls = [e for e in record.trajectory.events() if isinstance(e, ToolCall)]
    assert [call.parent_call_id for call in calls if call.parent_call_id] == ["prog"]


def test_listed_tools_are_no_call_and_an_unknown_item_is_kept_and_counted():
    record = read_one(FILES / "provider_tools.json")
    assert [row[1] for row in rows(record) if row[0] == "system"] == [
        "mcp_list_tools", "moon_phase", "refusal",
    ]  # fmt: skip
    assert record.unread == {"moon_phase": 1}


def test_a_record_brings_its_id_and_outcomes():
    record = read_one(FILES / "provider_tools.json")
    assert (record.sample_id, record.outcomes) == ("case-3", {"resolved": True})
    assert rows(record)[0] == ("user", "Count\nthem.")


@pytest.mark.parametrize("text", ["3", '{"a": 1}', '[{"input": 3}]', '"x"'])
def test_a_record_without_items_is_refused_with_its_place(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.json"):
        read_foreign(path, "openai-responses")


def test_calls_in_a_message_are_none_of_this_api_and_are_kept_as_unread(tmp_path):
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": "Wait.", "tool_calls": [call]}
    (tmp_path / "x.json").write_text(json.dumps({"messages": [message]}), encoding="utf-8")
    record = read_one(tmp_path / "x.json", "openai-responses")
    assert rows(record) == [("assistant", "Wait."), ("system", "tool_calls", "")]
    assert record.unread == {"tool_calls": 1}
