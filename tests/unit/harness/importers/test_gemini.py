import json

import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign, read_one, rows

from harness.types.errors import InputError
from harness.types.trajectories import Usage

FILES = FOREIGN / "gemini"


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_files_of_the_format_are_told_by_their_shape(path):
    assert find_foreign(path) == "gemini"


def test_a_request_is_a_conversation():
    record = read_one(FILES / "request.json")
    assert rows(record) == [
        ("system", "system", "Be brief."),
        ("user", "Where is P-7?"),
        ("system", "inlineData", ""),
        ("reasoning", "look"),
        ("assistant", "One moment."),
        ("call", None, "find", {"id": "P-7"}),
        ("call", "f2", "note", {}),
        ("result", None, "find", "Ulm"),
        ("failed", "f2", "note", "full"),
        ("reasoning", "x"),
        ("assistant", "In Ulm."),
        ("user", "And P-8?"),
    ]
    assert [len(turn.steps) for turn in record.trajectory.turns] == [2, 0]
    assert record.model == "maker-flash"


def test_a_recorded_response_is_the_last_reply():
    record = read_one(FILES / "exchange.json")
    assert rows(record) == [("user", "Where is P-8?"), ("assistant", "In Bern.")]
    assert record.trajectory.usage == Usage(input_tokens=6, output_tokens=3)
    assert (record.sample_id, record.model) == ("p-8", "maker-flash-1")


def test_a_result_in_the_role_of_the_model_is_no_reply():
    record = read_one(FILES / "model_role.json")
    assert rows(record)[1:] == [
        ("call", None, "list", {}),
        ("result", None, "list", '{"files":["a"]}'),
    ]
    assert len(record.trajectory.turns[0].steps) == 1


def test_a_session_of_the_command_holds_calls_with_their_results():
    record = read_one(FILES / "session.json")
    assert rows(record) == [
        ("user", "Make hello.txt."),
        ("reasoning", "Plan\nWrite it."),
        ("call", "w1", "write_file", {"path": "hello.txt"}),
        ("result", "w1", "write_file", "written"),
        ("call", "w2", "run", {}),
        ("failed", "w2", "run", ""),
        ("system", "info", "Model changed."),
        ("error", "error", "Quota is low."),
        ("assistant", "Made."),
        ("system", "omen", ""),
    ]
    assert record.unread == {"omen": 1}
    first, second = record.trajectory.turns[0].steps
    assert (first.usage, second.usage) == (Usage(input_tokens=40, output_tokens=6), Usage())


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (7, "a record must be an object"),
        ({"contents": []}, "the record holds no contents"),
        ({"contents": [{"parts": [{}]}, 7]}, "contents[1]: a content must be an object"),
        ({"contents": [{"parts": [7]}]}, "contents[0]: a part must be a text or an object"),
        ({"sessionId": "s", "messages": [{"type": "user"}, 7]}, "messages[1]: a message must be"),
        (
            {"sessionId": "s", "messages": [{"type": "gemini", "toolCalls": 7}]},
            "messages[0]: toolCalls must be a list",
        ),
        (
            {"sessionId": "s", "messages": [{"type": "gemini", "toolCalls": [7]}]},
            "a tool call must be an object",
        ),
    ],
)
def test_what_is_no_conversation_is_a_fault_with_its_place(value, problem, tmp_path):
    path = tmp_path / "g.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_foreign(path, "gemini")
    assert path.as_posix() in str(caught.value)
    assert problem in str(caught.value)
