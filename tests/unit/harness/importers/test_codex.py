from datetime import UTC, datetime

import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign, read_one, rows

from harness.types.errors import InputError
from harness.types.events import ToolResult
from harness.types.trajectories import Usage
from harness.types.trials import Failure

FILES = FOREIGN / "codex"


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_files_of_the_format_are_told_by_their_shape(path):
    assert find_foreign(path) == "codex"


def test_what_events_tell_again_counts_once_and_what_codex_writes_is_no_turn():
    record = read_one(FILES / "rollout.jsonl")
    assert [row for row in rows(record) if row[0] != "system"] == [
        ("user", "Is depot 4 open?"),
        ("reasoning", "I look."),
        ("call", "c1", "exec_command", {"cmd": "cat depot-4"}),
        ("failed", "c1", "exec_command", "no such file\n"),
        ("call", "c2", "shell", {}),
        ("result", "c2", "shell", "closed"),
        ("call", "c3", "apply_patch", "*** Begin Patch"),
        ("result", "c3", "apply_patch", "Success."),
        ("assistant", "It is closed."),
        ("error", "stream_error", "429 rate limit"),
    ]
    kinds = [row[1] for row in rows(record) if row[0] == "system"]
    assert kinds == [
        *("instructions", "developer", "user_instructions", "environment_context"),
        *("turn_context", "task_started", "compacted", "turn_aborted", "hologram"),
    ]
    assert record.unread == {"hologram": 1}


def test_what_wraps_an_output_stands_behind_it():
    record = read_one(FILES / "rollout.jsonl")
    results = [e for e in record.trajectory.events() if isinstance(e, ToolResult)]
    assert "code 1" in results[0].structured["preamble"]
    assert results[1].structured == {"exit_code": 0, "duration_seconds": 0.2}
    assert results[1].at == datetime(2031, 2, 3, 9, 0, 13, tzinfo=UTC)


def test_a_session_tells_its_model_its_usage_and_how_it_broke():
    record = read_one(FILES / "rollout.jsonl")
    assert (record.model, record.usage) == ("small-1", Usage(input_tokens=190, output_tokens=17))
    assert record.fields["cli_version"] == "0.101.0"
    assert record.failure == Failure(code="server_error", message="429 rate limit")
    steps = [len(turn.steps) for turn in record.trajectory.turns]
    assert (record.status, steps) == ("target_error", [4])


def test_early_sessions_are_bare_items():
    record = read_one(FILES / "early.jsonl")
    assert rows(record)[0] == ("user", "Is depot 4 open?")
    assert rows(record)[-2:] == [("result", "c1", "shell", "depot-4"), ("assistant", "Yes.")]
    assert record.fields["git"] == {"branch": "main"}


def test_a_sub_agent_has_no_user():
    record = read_one(FILES / "sub_agent.jsonl")
    assert rows(record) == [
        ("system", "agent_prompt", "Look at depot 4."),
        ("assistant", "Closed."),
    ]


def test_events_are_the_conversation_where_there_are_no_items():
    record = read_one(FILES / "events_alone.jsonl")
    assert [row[:2] for row in rows(record)] == [
        ("user", "Is depot 4 open?"),
        ("reasoning", "Hm."),
        ("system", "exec_command_end"),
        ("assistant", "No."),
    ]


def test_an_item_that_is_printed_several_times_is_one_call():
    record = read_one(FILES / "printed.jsonl")
    assert [row for row in rows(record) if row[0] != "system"] == [
        ("reasoning", "I look."),
        ("call", "item_1", "command_execution", {"command": "ls"}),
        ("failed", "item_1", "command_execution", "a\nb"),
        ("call", "item_2", "mcp__depots__look", {"depot": 4}),
        ("result", "item_2", "mcp__depots__look", "closed"),
        ("call", "item_3", "mcp__depots__look", {"depot": 5}),
        ("failed", "item_3", "mcp__depots__look", "no depot"),
        ("call", "item_4", "file_change", {"changes": [{"path": "a", "kind": "add"}]}),
        ("call", "item_5", "file_change", {"changes": [{"path": "b", "kind": "add"}]}),
        ("error", "tool_call_failed", "file_change failed; no output is recorded"),
        ("call", "item_7", "web_search", {"query": "depots"}),
        ("assistant", "It is closed."),
        ("error", "error", "a warning"),
        ("error", "turn.failed", "Quota exceeded: insufficient balance"),
    ]
    assert record.unread == {"hologram": 1}
    assert rows(record)[-1] == ("system", "agent_message", "")


def test_what_is_printed_tells_its_usage_and_how_it_broke():
    record = read_one(FILES / "printed.jsonl")
    assert record.usage == Usage(input_tokens=24, output_tokens=12)
    assert (record.status, record.failure.code) == ("target_error", "quota_exhausted")
    assert record.fields == {"thread_id": "th1"}


def test_each_record_that_holds_a_list_is_a_conversation():
    one, two = read_foreign(FILES / "records.json")
    assert (one.sample_id, one.outcomes, rows(one)[1][3]) == ("one", {"resolved": True}, "open")
    assert (two.sample_id, rows(two)) == ("two", [("assistant", "Open.")])


def test_a_torn_line_is_kept(tmp_path):
    path = tmp_path / "a.jsonl"
    text = (FILES / "sub_agent.jsonl").read_text(encoding="utf-8")
    path.write_text(text + '{"type": "resp', encoding="utf-8")
    assert read_one(path).unread == {"line": 1}


@pytest.mark.parametrize("text", ["", '{"a": 1}\n', "[3]", '{"items": []}'])
def test_a_file_without_any_line_of_codex_is_refused(text, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(text or "null", encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.json: no line is of Codex"):
        read_foreign(path, "codex")
