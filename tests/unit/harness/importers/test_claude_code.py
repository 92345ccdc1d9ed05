import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign, read_one, rows

from harness.types.errors import InputError
from harness.types.events import ToolResult
from harness.types.trajectories import Step, Usage
from harness.types.trials import Failure

FILES = FOREIGN / "claude_code"


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_files_of_the_format_are_told_by_their_shape(path):
    assert find_foreign(path) == "claude-code"


def test_a_session_is_cut_at_clear_and_sub_agents_come_after_it():
    first, second, agent = read_foreign(FILES / "session.jsonl")
    assert [row for row in rows(first) if row[0] != "system"] == [
        ("user", "Is depot 4 open?"),
        ("reasoning", "I should look."),
        ("assistant", "Let me look."),
        ("call", "t1", "Task", {"prompt": "Look at depot 4."}),
        ("result", "t1", "Task", "closed"),
        ("call", "t2", "Bash", {"command": "ls"}),
        ("failed", "t2", "Bash", "no such command"),
        ("assistant", "No, it is closed."),
    ]
    assert [row for row in rows(second) if row[0] != "system"] == [
        ("user", "And depot 5?"),
        ("error", "api_error", "API Error: 529 overloaded"),
    ]
    assert rows(agent) == [
        ("system", "agent_prompt", "Look at depot 4."),
        ("assistant", "It is closed."),
    ]
    assert [first.model, second.model, agent.model] == ["small-1", None, "tiny-1"]
    assert agent.fields["isSidechain"] is True


def test_what_the_program_writes_in_the_users_place_is_a_system_event_of_its_kind():
    first = read_foreign(FILES / "session.jsonl")[0]
    kinds = [row[1] for row in rows(first) if row[0] == "system"]
    assert kinds == [
        *("summary", "meta", "command", "ide_context", "image", "agent_note", "interruption"),
        *("compact_boundary", "compact_summary", "command", "command_output"),
    ]
    assert first.unread == {}


def test_lines_of_one_reply_are_one_step_with_the_last_numbers():
    first = read_foreign(FILES / "session.jsonl")[0]
    (turn,) = first.trajectory.turns
    usage = Usage(input_tokens=9, output_tokens=30)
    assert turn.steps[0] == Step(usage=usage, model="small-1", stop_reason="tool_use")
    assert [event.step for event in turn.events if event.step is not None].count(0) == 5
    assert len(turn.steps) == 3


def test_a_result_has_what_the_program_knows_of_it_beside_its_text():
    first = read_foreign(FILES / "session.jsonl")[0]
    results = [e for e in first.trajectory.events() if isinstance(e, ToolResult)]
    assert [e.structured for e in results] == [{"status": "completed", "agentId": "a1"}, None]


def test_an_outage_in_place_of_the_last_reply_is_no_answer():
    second = read_foreign(FILES / "session.jsonl")[1]
    assert second.status == "target_error"
    assert second.failure == Failure(code="server_error", message="API Error: 529 overloaded")


def test_lines_that_are_no_messages_are_kept_with_their_number():
    record = read_one(FILES / "damaged.jsonl")
    assert [row for row in rows(record) if row[0] != "system"] == [
        ("user", "Is depot 4 open?"),
        ("assistant", "Yes."),
    ]
    kept = {"line": 4, "user": 2, "content_item": 1, "hologram": 1, "unreadable_line": 1}
    assert record.unread == kept
    data = [e.data for e in record.trajectory.events() if getattr(e, "kind", "") == "line"]
    assert data == [
        {"line": 2, "value": "a text"},
        {"line": 3, "value": 42},
        {"line": 4, "value": [1]},
        {"line": 5, "value": {"silly": "this"}},
    ]


def test_a_sub_agent_s_own_file_has_no_user():
    record = read_one(FILES / "agent-a1.jsonl")
    assert [row[0] for row in rows(record)] == ["system", "assistant"]
    assert record.fields["agentId"] == "a1"


def test_what_is_printed_tells_how_it_ended_and_what_it_took():
    main, agent = read_foreign(FILES / "printed.jsonl")
    assert [row for row in rows(main) if row[0] != "system"] == [
        ("call", "t1", "Task", {}),
        ("result", "t1", "Task", "Closed."),
    ]
    assert rows(agent) == [("system", "agent_prompt", "Look."), ("assistant", "Closed.")]
    assert (main.status, main.failure.code) == ("agent_failure", "max_steps")
    assert main.usage == Usage(input_tokens=90, output_tokens=12, cost_usd=0.25)
    assert (main.seconds, main.outcomes) == (1.5, {"exit_status": "error_max_turns"})


def test_a_file_without_any_line_of_a_session_is_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"type": "text"}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.jsonl: no line is of a session"):
        read_foreign(path, "claude-code")
