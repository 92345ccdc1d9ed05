import json
from datetime import UTC, datetime

import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign, read_one, rows

from harness.types.errors import InputError
from harness.types.events import ToolCall, ToolResult
from harness.types.trajectories import Step, Usage

FILES = FOREIGN / "swe_agent"


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_files_of_the_format_are_told_by_their_shape(path):
    assert find_foreign(path) == "swe-agent"


def test_demonstrations_and_what_the_program_writes_are_no_turns():
    record = read_one(FILES / "depot__1.traj")
    assert rows(record) == [
        ("system", "system", "You work in a shell."),
        ("system", "demonstration", "An example of a session"),
        ("user", "Fix the colon in depot.py."),
        ("reasoning", "A colon is missing."),
        ("assistant", "Let me look."),
        ("call", "call_1", "open", {"path": "depot.py"}),
        ("result", "call_1", "open", "1:def depot()\r\n\n(Open file: depot.py)\nbash-$"),
        ("assistant", "Now I submit."),
        ("call", None, "bash", {"command": "submit"}),
        ("result", None, "bash", "diff --git a/depot.py b/depot.py"),
        ("system", "observation", "Your reply had no command."),
    ]


def test_a_file_is_named_by_its_sample_and_tells_model_usage_and_exit_status():
    record = read_one(FILES / "depot__1.traj")
    usage = Usage(input_tokens=900, output_tokens=40, cost_usd=0.25)
    assert (record.sample_id, record.model, record.usage) == ("depot__1", "small-1", usage)
    assert (record.status, record.outcomes) == ("completed", {"exit_status": "submitted"})
    assert record.fields["info"]["submission"] == "diff"


def test_steps_stand_for_the_messages_where_no_history_is_left():
    record = read_one(FILES / "steps.traj")
    assert rows(record) == [
        ("system", "system", "You work in a shell."),
        ("user", "Count the files."),
        ("assistant", "I count.\n```\nls | wc -l\n```"),
        ("call", None, "bash", {"command": "ls | wc -l"}),
        ("result", None, "bash", "3"),
    ]
    assert (record.status, record.failure.code) == ("agent_failure", "max_steps")


def test_commands_that_stand_in_the_text_alone_are_no_calls():
    record = read_one(FILES / "bare_list.json")
    assert [row[:2] for row in rows(record)] == [
        ("system", "system"),
        ("user", "Count the files."),
        ("assistant", "I count.\n\n```mswea_bash_command\nls | wc -l\n```"),
        ("system", "observation"),
        ("assistant", "Done.\n\n```mswea_bash_command\necho COMPLETE\n```"),
        ("system", "observation"),
    ]
    assert (record.sample_id, record.unread) == (None, {})


def test_commands_that_are_recorded_apart_are_calls_and_a_tool_s_call_counts_once():
    record = read_one(FILES / "mini.traj.json")
    calls = [e for e in record.trajectory.events() if isinstance(e, ToolCall)]
    results = [e for e in record.trajectory.events() if isinstance(e, ToolResult)]
    assert [(e.call_id, e.arguments.get("command")) for e in calls] == [
        ("c1", "ls | wc -l"),
        (None, "ls"),
        (None, "pwd"),
        ("c2", None),
    ]
    assert [(e.call_id, e.ok) for e in results] == [
        ("c1", True),
        (None, True),
        (None, False),
        ("c2", True),
    ]
    assert [e.structured for e in results[:2]] == [{"returncode": 1}, None]
    assert calls[0].at == datetime(2031, 1, 24, 5, 46, 40, 500_000, UTC)


def test_a_reply_has_its_numbers_and_the_end_is_kept():
    record = read_one(FILES / "mini.traj.json")
    usage = Usage(input_tokens=90, output_tokens=5, cost_usd=0.25)
    assert record.trajectory.turns[0].steps[0] == Step(usage=usage, model="small-1-2031")
    assert (record.model, record.failure.code) == ("small-1", "max_steps")
    assert rows(record)[-2:] == [("system", "exit", "LimitsExceeded"), ("system", "narrator", "")]
    assert record.unread == {"narrator": 1}


@pytest.mark.parametrize(
    ("exit_status", "status", "code"),
    [
        ("submitted (exit_cost)", "completed", None),
        ("Submitted", "completed", None),
        ("exit_context", "target_error", "context_length"),
        ("exit_api", "target_error", "server_error"),
        ("AuthenticationError", "target_error", "server_error"),
        ("RepeatedFormatError", "agent_failure", "max_steps"),
        (None, "completed", None),
    ],
)
def test_an_exit_status_says_how_the_trial_ended(exit_status, status, code, tmp_path):
    path = tmp_path / "a.traj"
    record = {"history": [], "info": {"exit_status": exit_status}}
    path.write_text(json.dumps(record), encoding="utf-8")
    read = read_one(path)
    assert (read.status, read.failure and read.failure.code) == (status, code)


@pytest.mark.parametrize("record", ['{"info": {}}', "3", '{"history": 3}', '{"trajectory": []}'])
def test_a_record_without_messages_is_refused(record, tmp_path):
    path = tmp_path / "a.traj"
    path.write_text(record, encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.traj: the record holds no messages"):
        read_foreign(path, "swe-agent")
