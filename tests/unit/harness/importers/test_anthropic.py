from datetime import UTC, datetime

import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign, read_one, rows, said

from harness.types.errors import InputError
from harness.types.events import ToolResult
from harness.types.trajectories import Step, Usage

FILES = FOREIGN / "anthropic"


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_files_of_the_format_are_told_by_their_shape(path):
    assert find_foreign(path) == "anthropic"


def test_a_message_of_nothing_but_results_is_no_turn_and_calls_and_texts_stand_in_order():
    record = read_one(FILES / "parallel_calls.json")
    assert rows(record) == [
        ("system", "system", "Be brief."),
        ("user", "Which crate\nis heavier?"),
        ("system", "image", ""),
        ("reasoning", "Weigh both."),
        ("assistant", "I weigh both."),
        ("call", "toolu_1", "weigh", {"crate": "A"}),
        ("call", "toolu_2", "weigh", {"crate": "B"}),
        ("result", "toolu_1", "weigh", "12 kg"),
        ("failed", "toolu_2", "weigh", "RuntimeError('no scale')"),
        ("assistant", "A, as far as I know."),
    ]
    assert (record.model, record.unread) == ("small-1-2026", {})


def test_a_response_has_its_numbers_and_a_message_of_the_history_has_none():
    (turn,) = read_one(FILES / "parallel_calls.json").trajectory.turns
    numbers = Usage(input_tokens=50, output_tokens=7)
    assert turn.steps == (Step(), Step(usage=numbers, model="small-1-2026", stop_reason="end_turn"))


def test_what_the_provider_runs_is_a_call_with_its_result_beside_it():
    record = read_one(FILES / "server_tools.json")
    error = '{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}'
    assert rows(record) == [
        ("call", "srvtoolu_1", "bash_code_execution", {"command": "echo 7"}),
        ("result", "srvtoolu_1", "bash_code_execution", "7\n"),
        ("call", "srvtoolu_2", "web_search", {"query": "crates"}),
        ("failed", "srvtoolu_2", "web_search", error),
        ("call", "mcptoolu_1", "echo", {}),
        ("result", "mcptoolu_1", "echo", "hello"),
        ("system", "hologram", ""),
        ("assistant", "Seven."),
    ]
    assert (record.unread, record.sample_id) == ({"hologram": 1}, None)
    result = next(e for e in record.trajectory.events() if isinstance(e, ToolResult))
    assert result.structured["return_code"] == 0


def test_requests_that_repeat_the_history_are_one_conversation():
    record = read_one(FILES / "repeated_history.json")
    assert rows(record) == [
        ("user", "Where is P-7?"),
        ("call", "toolu_1", "find", {}),
        ("result", "toolu_1", "find", "Ulm"),
        ("assistant", "In Ulm."),
    ]
    assert record.unread == {}


def test_a_result_whose_call_was_left_out_has_no_name_and_the_lost_reply_is_kept():
    record = read_one(FILES / "lost_reply.json")
    message = "[invalid_request_error] unexpected tool_use_id"
    assert rows(record) == [
        ("user", "Where is P-7?"),
        ("system", "reply_left_out", ""),
        ("result", "toolu_1", None, "Ulm"),
        ("error", "bad_request", message),
    ]
    assert (record.status, record.unread) == ("target_error", {"reply_left_out": 1})


def test_what_a_client_sent_counts_once_although_it_comes_back():
    record = read_one(FILES / "session.jsonl")
    assert [row for row in rows(record) if not row[1].startswith(("session.status", "span."))] == [
        ("user", "Weather in Ulm?"),
        ("call", "sevt_3", "weather", {"city": "Ulm"}),
        ("result", "sevt_3", "weather", "23 degrees"),
        ("assistant", "It is 23 degrees."),
        ("system", "agent.dream", ""),
        ("error", "session.error", "too busy"),
    ]
    assert (record.model, record.fields["id"]) == ("small-1", "sesn_1")
    assert record.unread == {"agent.dream": 1}


def test_events_of_a_session_have_their_time_and_steps_their_usage():
    (turn,) = read_one(FILES / "session.jsonl").trajectory.turns
    assert turn.steps[0].usage == Usage(input_tokens=20, output_tokens=5)
    assert turn.events[-3].at == datetime(2026, 5, 6, 14, 16, 34, tzinfo=UTC)


def test_another_session_in_the_same_file_is_another_conversation(tmp_path):
    text = (FILES / "session.jsonl").read_text(encoding="utf-8")
    path = tmp_path / "two.jsonl"
    path.write_text(text + text, encoding="utf-8")
    assert list(map(said, read_foreign(path))) == [["It is 23 degrees."]] * 2


@pytest.mark.parametrize("text", ["3", '{"a": 1}', '[{"messages": 3}]', '"x"'])
def test_a_record_without_messages_is_refused_with_its_place(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.json"):
        read_foreign(path, "anthropic")
