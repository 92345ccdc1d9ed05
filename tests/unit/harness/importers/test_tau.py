import json

import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign, rows

from harness.types.errors import InputError
from harness.types.trajectories import Step, Usage
from harness.types.trials import Failure

FILES = FOREIGN / "tau"


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_files_of_the_format_are_told_by_their_shape(path):
    assert find_foreign(path) == "tau"


def test_a_stop_token_is_said_by_the_user_and_a_failure_told_in_words_is_no_flag():
    record = read_foreign(FILES / "bench.json")[0]
    assert rows(record) == [
        ("system", "system", "You help with depot orders."),
        ("user", "Is order KQ-17 packed?"),
        ("assistant", "Let me look."),
        ("call", "call_1", "get_order", {"order_id": "KQ-17"}),
        ("result", "call_1", "get_order", "Error: order not found"),
        ("assistant", "There is no such order."),
        ("user", "Thank you. ###STOP###"),
    ]
    assert (record.sample_id, record.epoch, record.outcomes) == ("7", 2, {"reward": 1.0})
    assert record.fields["info"]["user_cost"] == 0.01


def test_a_trial_that_broke_has_the_error_in_place_of_a_conversation():
    record = read_foreign(FILES / "bench.json")[1]
    assert rows(record) == []
    message = "Rate limit: maximum context length exceeded"
    assert record.failure == Failure(code="context_length", message=message)
    assert (record.status, record.outcomes) == ("target_error", {"reward": 0.0})


def test_tools_of_the_played_user_are_no_calls_of_the_agent():
    record = read_foreign(FILES / "simulations.json")[0]
    assert rows(record) == [
        ("assistant", "Hello, how can I help?"),
        ("user", "My scanner is offline."),
        ("reasoning", '{"functionCall": {"name": "get_scanner"}}'),
        ("reasoning", "It may be the radio."),
        ("assistant", "Please toggle it."),
        ("call", "a1", "get_scanner", {"scanner_id": "S-4"}),
        ("failed", "a1", "get_scanner", "Error: no scanner S-4"),
        ("system", "user_tool_call", "toggle_radio"),
        ("system", "user_tool_result", "Radio is on."),
        ("user", "I did. ###STOP###"),
        ("system", "narrator", ""),
    ]
    assert record.unread == {"narrator": 1}
    assert [len(turn.steps) for turn in record.trajectory.turns] == [2, 0]


def test_a_reply_has_its_numbers_and_a_simulation_its_end():
    first, second = read_foreign(FILES / "simulations.json")
    usage = Usage(input_tokens=300, output_tokens=20, cost_usd=0.5)
    step = Step(usage=usage, model="small-1-2031", stop_reason="tool_calls")
    assert first.trajectory.turns[0].steps == (Step(), step)
    assert (first.model, first.sample_id, first.epoch, first.seconds) == ("small-1", "net", 1, 12.5)
    assert first.outcomes == {"reward": 1.0, "termination_reason": "max_steps"}
    assert (first.status, first.failure.code) == ("agent_failure", "max_steps")
    assert (second.status, second.failure.code) == ("target_error", "server_error")
    assert first.fields["info"]["environment_info"] == {"domain_name": "depot"}


@pytest.mark.parametrize("reason", ["user_stop", "agent_stop", "transfer", None, 3])
def test_an_ending_that_is_no_failure_completes_the_trial(reason, tmp_path):
    path = tmp_path / "one.json"
    record = {"task_id": "1", "messages": [], "termination_reason": reason}
    path.write_text(json.dumps(record), encoding="utf-8")
    (read,) = read_foreign(path)
    assert (find_foreign(path), read.status, read.failure) == ("tau", "completed", None)


@pytest.mark.parametrize(
    ("record", "place"),
    [
        ({"task_id": 1, "reward": 1}, "a.json:"),
        ({"tasks": [], "simulations": [3]}, r"a\.json\.simulations\[0\]"),
        ({"tasks": [], "simulations": [{"messages": 3}]}, r"a\.json\.simulations\[0\]"),
        ([[]], r"a\.json\[0\]"),
    ],
)
def test_a_record_that_is_no_trial_is_refused_with_its_place(record, place, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(InputError, match=place):
        read_foreign(path, "tau")
