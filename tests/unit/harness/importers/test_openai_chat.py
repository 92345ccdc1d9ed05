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


WHOLE = {"prompt_tokens": 100, "completion_tokens": 20, "cost": 0.5}
OWN = {"input_tokens": 7, "output_tokens": 3}


@pytest.mark.parametrize(
    ("own", "whole", "of_record", "of_steps"),
    [
        ([None, None], WHOLE, (100, 20), (None, None)),
        ([OWN, None], WHOLE, (100, 20), (7, 3)),
        ([OWN, OWN], WHOLE, None, (14, 6)),
        ([OWN, OWN], None, None, (14, 6)),
        ([{"input_tokens": 7}, OWN], WHOLE, (100, 20), (14, 3)),
        ([None, None], {"total_tokens": "many"}, None, (None, None)),
        ([None, None], [3], None, (None, None)),
    ],
)
def test_usage_is_that_of_each_message_or_else_what_stands_beside_them(
    own, whole, of_record, of_steps, tmp_path
):
    replies = [{"role": "assistant", "content": "Hm.", "usage": usage} for usage in own]
    record = {"messages": [{"role": "user", "content": "Hi"}, *replies], "usage": whole}
    (tmp_path / "x.json").write_text(json.dumps(record), encoding="utf-8")
    read = read_one(tmp_path / "x.json")
    summed = read.trajectory.usage
    assert (summed.input_tokens, summed.output_tokens) == of_steps
    assert (read.usage and (read.usage.input_tokens, read.usage.output_tokens)) == of_record


def test_usage_of_a_completion_is_that_of_its_reply(tmp_path):
    choice = {"message": {"role": "assistant", "content": "Yes."}}
    asked = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "A.", "usage": OWN},
    ]
    record = {"messages": asked, "choices": [choice], "usage": WHOLE}
    (tmp_path / "x.json").write_text(json.dumps(record), encoding="utf-8")
    read = read_one(tmp_path / "x.json")
    assert [step.usage.input_tokens for step in read.trajectory.turns[0].steps] == [7, 100]
    assert read.usage is None
