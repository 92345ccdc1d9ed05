import json

import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign, read_one, rows

from harness.types.errors import InputError
from harness.types.events import ToolResult
from harness.types.trajectories import Step, Usage

FILES = FOREIGN / "openhands"


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_files_and_folders_of_the_format_are_told_by_their_shape(path):
    assert find_foreign(path) == "openhands"


def test_actions_are_calls_by_what_the_model_sent_and_stock_texts_are_not_said():
    record = read_one(FILES / "events.json")
    assert [row for row in rows(record) if row[0] != "system"] == [
        ("user", "Is depot 4 open?"),
        ("assistant", "Let me look."),
        ("call", "c1", "execute_bash", {"command": "ls"}),
        ("call", "c2", "think", {"thought": "Hm."}),
        ("failed", "c1", "execute_bash", "depot-4"),
        ("result", "c2", "think", "Your thought has been logged."),
        ("assistant", "I read."),
        ("call", "event-26", "read", {"path": "depot-4"}),
        ("failed", "event-26", "read", "no such file"),
        ("result", "event-999", None, "an orphan"),
        ("error", "error", "the runtime is gone"),
        ("call", "event-47", "finish", {"final_thought": "It is closed.", "outputs": {}}),
        ("assistant", "It is closed."),
    ]


def test_what_the_program_and_the_user_do_beside_is_a_system_event():
    record = read_one(FILES / "events.json")
    kinds = [row[1] for row in rows(record) if row[0] == "system"]
    assert kinds == [
        *("system", "image_urls", "recall", "continue_prompt", "user_action", "run"),
        *("hologram", "agent_state_changed"),
    ]
    assert record.unread == {"hologram": 1}


def test_calls_of_one_reply_are_one_step_with_its_numbers():
    record = read_one(FILES / "events.json")
    usage = Usage(input_tokens=9, output_tokens=3)
    steps = record.trajectory.turns[0].steps
    assert steps == (
        Step(usage=usage, model="small-1-2031", stop_reason="tool_calls"),
        *[Step()] * 2,
    )
    assert record.usage == Usage(input_tokens=90, output_tokens=7, cost_usd=0.5)
    assert (record.status, record.failure.code) == ("agent_failure", "max_steps")
    results = [e for e in record.trajectory.events() if isinstance(e, ToolResult)]
    assert results[0].structured == {"metadata": {"exit_code": 1}}


def test_a_record_of_an_evaluation_has_its_sample_its_outcome_and_its_error():
    first, second = read_foreign(FILES / "output.jsonl")
    assert [row[:2] for row in rows(first) if row[0] != "system"] == [
        ("user", "Is depot 4 open?"),
        ("assistant", "I read."),
        ("call", "event-26"),
        ("failed", "event-26"),
    ]
    assert (first.sample_id, first.model, first.outcomes) == (
        *("depot-1", "small-1"),
        {"resolved": True},
    )
    assert (second.sample_id, second.status, rows(second)) == ("depot-2", "target_error", [])


def test_thoughts_that_stand_twice_count_once_and_the_flag_alone_says_what_failed():
    record = read_one(FILES / "sdk.jsonl")
    assert [row for row in rows(record) if row[0] != "system"] == [
        ("user", "Is depot 4 open?"),
        ("reasoning", "Look first."),
        ("assistant", "Let me look."),
        ("call", "c1", "terminal", {"command": "ls"}),
        ("call", "c2", "broken", "{"),
        ("result", "c1", "terminal", "no such file"),
        ("failed", "c2", "broken", "Bad arguments"),
        ("failed", "c9", None, "timed out"),
        ("call", "c3", "send", {}),
        ("failed", "c3", "send", "No."),
        ("reasoning", "Done."),
        ("assistant", "It is closed."),
        ("call", "c4", "finish", {"message": "All done."}),
        ("assistant", "All done."),
        ("error", "LLMError", "429 rate limit"),
    ]
    kinds = [row[1] for row in rows(record) if row[0] == "system"]
    assert kinds == [
        *("SystemPromptEvent", "execution_status", "extended_content", "HologramEvent")
    ]


def test_a_conversation_of_the_sdk_tells_its_model_its_usage_and_how_it_broke():
    record = read_one(FILES / "sdk.jsonl")
    assert record.usage == Usage(input_tokens=100, output_tokens=8, cost_usd=0.5)
    assert (record.model, record.status) == ("small-1", "target_error")
    assert record.unread == {"HologramEvent": 1}
    assert len(record.trajectory.turns[0].steps) == 4


def test_a_folder_with_a_file_an_event_is_one_conversation():
    record = read_one(FILES / "events")
    assert rows(record)[0] == ("user", "Is depot 4 open?")
    assert rows(record)[-1] == ("assistant", "It is closed.")


@pytest.mark.parametrize(
    ("state", "status"),
    [("error", "target_error"), ("stuck", "agent_failure"), ("finished", "completed")],
)
def test_the_last_state_says_how_a_conversation_of_the_sdk_ended(state, status, tmp_path):
    shared = {"kind": "ConversationStateUpdateEvent", "source": "environment", "timestamp": "2031"}
    events = [{**shared, "key": "execution_status", "value": value} for value in ("running", state)]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(events), encoding="utf-8")
    assert read_one(path).status == status


@pytest.mark.parametrize("text", ["[3]", '{"a": 1}', '{"history": [3]}', "[[]]"])
def test_a_file_without_events_is_refused(text, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.json: the"):
        read_foreign(path, "openhands")
