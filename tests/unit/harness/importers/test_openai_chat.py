import json

import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign, read_one, rows

from harness.types.errors import InputError
from harness.types.trajectories import Step, Usage

FILES = FOREIGN / "openai_chat"
LOST = {"role": "assistant", "content": "<think>lost</think>Let me look."}


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_files_of_the_format_are_told_by_their_shape(path):
    assert find_foreign(path) == "openai-chat"


def test_what_a_framework_says_in_the_user_s_place_is_no_turn():
    record = read_one(FILES / "refused_answer.json")
    assert [row[:2] for row in rows(record)[:4]] == [
        ("user", "Is depot 4 open?"),
        ("assistant", "perhaps"),
        ("system", "retry_prompt"),
        ("reasoning", "They want an object."),
    ]
    (turn,) = record.trajectory.turns
    assert [event.step for event in turn.events] == [None, 0, None, 1, 1, None]


def test_a_response_gives_the_last_step_its_numbers_and_other_choices_are_counted():
    record = read_one(FILES / "refused_answer.json")
    numbers = Usage(input_tokens=40, output_tokens=9)
    step = Step(usage=numbers, model="small-1-2026", stop_reason="tool_calls")
    assert record.trajectory.turns[0].steps == (Step(), step)
    assert (record.unread, record.model) == ({"choice": 1}, "small-1-2026")


def test_requests_that_go_on_with_each_other_are_one_conversation():
    first, second = read_foreign(FILES / "outage.jsonl")
    assert rows(first) == [
        ("user", "Is depot 4 open?"),
        ("error", "overloaded", "overloaded"),
        ("system", "reply_left_out", ""),
        ("user", "Well?"),
        ("reasoning", "It is Sunday."),
        ("assistant", "No."),
    ]
    assert rows(second) == [("user", "Is depot 5 open?"), ("assistant", "Yes.")]
    assert [first.sample_id, second.sample_id] == ["depot-1", "depot-2"]


def test_a_reply_that_the_next_request_lacks_is_kept_and_counted():
    record = read_foreign(FILES / "outage.jsonl")[0]
    lost = [e for e in record.trajectory.events() if getattr(e, "kind", "") == "reply_left_out"]
    assert [event.data for event in lost] == [[LOST]]
    assert (record.unread, record.status) == ({"reply_left_out": 1}, "completed")


def test_a_message_that_is_none_is_kept_where_it_stands_and_counted():
    first, second = read_foreign(FILES / "odd_messages.json")
    assert [row[:2] for row in rows(first)] == [
        ("user", "Hi"),
        ("system", "narrator"),
        ("system", "message"),
        ("system", "assistant"),
        ("assistant", "Hello."),
    ]
    assert first.unread == {"narrator": 1, "message": 1, "assistant": 1}
    assert (first.sample_id, first.outcomes) == ("a", {"resolved": True, "reward": 0.5})
    assert (second.sample_id, rows(second)) == ("b", [])


def test_reasoning_beside_a_call_is_no_answer_and_the_id_of_a_completion_no_sample():
    record = read_one(FILES / "completion.json")
    assert rows(record) == [
        ("reasoning", "I should look."),
        ("assistant", ""),
        ("call", "c1", "lookup", {}),
    ]
    assert (record.sample_id, record.model) == (None, "small-1")


@pytest.mark.parametrize("line", ["3", '{"text": "a"}', '{"request": {"messages": 3}}'])
def test_a_record_without_messages_is_refused_with_its_line(tmp_path, line):
    path = tmp_path / "a.jsonl"
    good = json.dumps({"messages": [{"role": "user", "content": "Hi"}]})
    path.write_text(f"{good}\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.jsonl:2"):
        read_foreign(path)
