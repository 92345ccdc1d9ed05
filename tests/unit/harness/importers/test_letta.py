import json

import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign, read_one, rows, said

from harness.types.errors import InputError
from harness.types.events import Reasoning, ToolResult, UserMessage
from harness.types.trajectories import Usage

FILES = FOREIGN / "letta"


def users(record):
    return [e.text for e in record.trajectory.events() if isinstance(e, UserMessage)]


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_files_of_the_format_are_told_by_their_shape(path):
    assert find_foreign(path) == "letta"


def test_an_agent_file_holds_a_conversation_with_its_approvals_and_thoughts():
    record = read_one(FILES / "agent.af")
    assert rows(record) == [
        ("system", "system", "You sell tickets."),
        ("user", "A ticket to Aalund, please."),
        ("reasoning", "Look up the price."),
        ("system", "hidden_reasoning", "redacted"),
        ("assistant", "Let me see."),
        ("call", "c1", "price", {"to": "Aalund"}),
        ("result", "c1", "price", '{"price": 12}'),
        ("call", "c2", "book", {"to": "Aalund"}),
        ("system", "approval_request", ""),
        ("system", "approval_response", "ask first"),
        ("failed", "c2", "book", "denied: ask first"),
        ("assistant", "It is 12 crowns. Shall I book?"),
        ("user", "Yes."),
        ("system", "system_reminder", "Today is Monday."),
        ("system", "chorus_role", ""),
        ("reasoning", "Do it."),
    ]
    assert [len(turn.steps) for turn in record.trajectory.turns] == [3, 1]


def test_an_agent_file_tells_its_agent_and_no_secret_and_counts_unknown_roles():
    record = read_one(FILES / "agent.af")
    assert (record.model, record.sample_id) == ("maker/small-1", None)
    assert record.fields["name"] == "ferry_desk"
    assert "hush" not in str(record)
    assert record.unread == {"chorus_role": 1}


def test_what_a_tool_printed_is_kept_beside_its_output():
    results = [e for e in read_one(FILES / "agent.af").trajectory.events() if type(e) is ToolResult]
    assert results[0].structured == {"stdout": ["asked\n"], "stderr": []}


def test_an_agent_that_speaks_by_a_tool_thinks_in_its_text():
    record = read_one(FILES / "legacy.af")
    assert said(record) == ["Your trunk stands in row 7."]
    thoughts = [e.text for e in record.trajectory.events() if isinstance(e, Reasoning)]
    assert thoughts == ["They lost a trunk. I look in the hall.", "Found. Tell them.", "Lift it."]
    assert record.model == "old-1"


def test_envelopes_are_opened_and_logins_and_heartbeats_are_no_turns():
    record = read_one(FILES / "legacy.af")
    assert users(record) == ["Where is my trunk?", "Bring it up."]
    assert [row for row in rows(record) if row[0] in {"result", "failed"}] == [
        ("result", "c1", "search_hall", "row 7"),
        ("result", "c2", "send_message", ""),
        ("failed", "c3", "carry", "too heavy"),
    ]
    assert [row[1] for row in rows(record) if row[0] == "system"] == [
        "system", "login", "system", "heartbeat",
    ]  # fmt: skip


def test_a_file_that_is_a_text_of_json_reads_as_the_json():
    assert rows(read_one(FILES / "twice_encoded.af")) == rows(read_one(FILES / "legacy.af"))


def test_messages_of_the_api_keep_what_stands_beside_them():
    record = read_one(FILES / "messages.json")
    assert rows(record) == [
        ("user", "Anything new?"),
        ("reasoning", "Search."),
        ("call", "c1", "search", {"q": "news"}),
        ("failed", "c1", "search", "closed"),
        ("system", "weather_message", ""),
        ("call", "c2", "send_message", {"message": "Nothing new."}),
        ("assistant", "Nothing new."),
        ("result", "c2", "send_message", ""),
    ]
    assert (record.sample_id, record.model) == ("news-1", "maker/small-1")
    assert (record.outcomes, record.unread) == ({"reward": 0.5}, {"weather_message": 1})


def test_a_list_with_the_newest_first_is_read_in_the_order_of_time():
    newest_first = read_one(FILES / "newest_first.json")
    assert users(newest_first) == ["Anything new?"]
    assert said(newest_first) == ["Nothing new."]
    assert rows(newest_first)[-1] == ("result", "c2", "send_message", "")


def test_the_last_allowed_step_is_the_agents_failure_and_the_reply_carries_its_usage():
    record = read_one(FILES / "max_steps.json")
    assert (record.status, record.failure.code) == ("agent_failure", "max_steps")
    assert record.trajectory.usage == Usage(input_tokens=40, output_tokens=6)


def test_the_pieces_of_a_stream_are_joined():
    record = read_one(FILES / "tokens.jsonl")
    assert rows(record) == [("user", "Say it."), ("assistant", "Alice waits.")]
    (turn,) = record.trajectory.turns
    assert turn.steps[0].stop_reason == "end_turn"
    assert record.trajectory.usage == Usage(input_tokens=9, output_tokens=3)


def test_a_stream_that_ends_in_an_error_was_not_driven_to_its_end():
    record = read_one(FILES / "failed.jsonl")
    assert (record.status, record.failure.message) == (
        "target_error",
        "llm_rate_limit: Too many requests.",
    )


def test_lines_of_letta_code_are_one_conversation_and_its_other_output_is_kept():
    record = read_one(FILES / "code.jsonl")
    assert rows(record) == [
        ("assistant", "Running."),
        ("system", "stdout", "a word on the way"),
    ]
    assert record.model == "maker/small-1"


def test_the_order_of_an_agent_file_counts_whatever_its_dates_say(tmp_path):
    told = [("system", "Rewritten.", 9), ("user", "Hello.", 1), ("assistant", "Hi.", 2)]
    messages = [
        {"role": role, "content": text, "created_at": f"2031-02-03T09:00:0{second}"}
        for role, text, second in told
    ]
    path = tmp_path / "late.af"
    path.write_text(json.dumps({"agents": [{"messages": messages}]}), encoding="utf-8")
    assert [row[-1] for row in rows(read_one(path))] == ["Rewritten.", "Hello.", "Hi."]


def test_every_agent_of_a_file_is_a_conversation(tmp_path):
    message = {"role": "user", "content": [{"type": "text", "text": "Hello."}]}
    agents = [{"name": name, "messages": [message]} for name in "ab"]
    path = tmp_path / "two.af"
    path.write_text(json.dumps({"agents": agents}), encoding="utf-8")
    assert [record.place[-3:] for record in read_foreign(path)] == ["[0]", "[1]"]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"agents": [{"messages": {}}]}, "messages must be a list, got an object"),
        ({"agents": [{"messages": [7]}]}, "message 0: must be an object, got a number"),
        (
            {"agents": [{"messages": [{"role": "assistant", "tool_calls": 1}]}]},
            "tool_calls must be a list, got a number",
        ),
        (
            {"agents": [{"messages": [{"role": "tool", "tool_returns": [1]}]}]},
            "message 0: a tool return must be an object, got a number",
        ),
        ({"messages": 3}, "messages of Letta must be a list, got a number"),
        (
            [{"message_type": "reasoning_message", "reasoning": 3}],
            "message 0: reasoning_message: reasoning must be a text, got a number",
        ),
        (
            [{"messages": [{"message_type": "ping"}]}, 4],
            "[1]: messages of Letta must be a list, got a number",
        ),
    ],
)
def test_what_is_no_conversation_is_a_fault_with_its_place(value, problem, tmp_path):
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_foreign(path, "letta")
    assert path.as_posix() in str(caught.value)
    assert problem in str(caught.value)


def test_a_line_among_messages_that_is_no_json_is_a_fault(tmp_path):
    path = tmp_path / "torn.jsonl"
    path.write_text('{"message_type": "ping"}\n{"message_ty', encoding="utf-8")
    with pytest.raises(InputError, match=r"torn\.jsonl:2: this line is no JSON"):
        read_foreign(path)
