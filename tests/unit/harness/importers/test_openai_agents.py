import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign, read_one, rows

from harness.types.errors import InputError
from harness.types.trajectories import Usage

FILES = FOREIGN / "openai_agents"


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_files_of_the_format_are_told_by_their_shape(path):
    assert find_foreign(path) == "openai-agents"


def test_the_items_of_a_run_count_once_although_the_responses_repeat_them():
    record = read_one(FILES / "run_state.json")
    assert rows(record) == [
        ("user", "Is depot 4 open?"),
        ("call", "c1", "transfer_to_clerk", {}),
        ("result", "c1", "transfer_to_clerk", '{"assistant": "clerk"}'),
        ("call", "c2", "ask", "depot 4"),
        ("result", "c2", "ask", "closed"),
        ("assistant", "It is closed."),
        ("system", "torn_item", ""),
        ("system", "response_item", ""),
    ]
    assert record.unread == {"torn_item": 1, "response_item": 1}


def test_events_name_their_agent_and_steps_have_the_numbers_of_their_response():
    (turn,) = read_one(FILES / "run_state.json").trajectory.turns
    assert [event.agent for event in turn.events[1:6]] == ["door", "door", *["clerk"] * 3]
    assert [event.step for event in turn.events[:6]] == [None, 0, 0, 1, 1, 2]
    assert [step.usage.input_tokens for step in turn.steps] == [10, 20, 30]


def test_a_state_brings_its_id_and_what_the_run_used_in_all():
    record = read_one(FILES / "run_state.json")
    assert record.usage == Usage(input_tokens=60, output_tokens=12)
    assert (record.sample_id, record.fields["current_agent"]) == ("depot-1", {"name": "clerk"})


def test_a_state_without_items_is_read_from_its_responses():
    record = read_one(FILES / "without_items.json")
    assert (rows(record), record.unread) == ([("user", "Hi"), ("assistant", "Hello.")], {})


@pytest.mark.parametrize("text", ["3", '{"generated_items": []}', '[{"original_input": 3}]'])
def test_a_record_that_is_no_state_is_refused_with_its_place(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.json"):
        read_foreign(path, "openai-agents")
