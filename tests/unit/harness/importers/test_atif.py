import json

import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign, read_one, rows, said

from harness.types.errors import InputError
from harness.types.events import SystemEvent, ToolResult
from harness.types.trajectories import Usage

FILES = FOREIGN / "atif"


def kinds(record):
    return [e.kind for e in record.trajectory.events() if isinstance(e, SystemEvent)]


def trajectory(*steps, **fields):
    return {"schema_version": "ATIF-v1.8", "agent": {}, "steps": list(steps), **fields}


@pytest.mark.parametrize("path", sorted(FILES.rglob("*.json")), ids=lambda path: path.name)
def test_files_of_the_format_are_told_by_their_shape(path):
    assert find_foreign(path) == "atif"


def test_results_are_paired_by_the_call_they_name():
    record = read_one(FILES / "paired.json")
    assert rows(record) == [
        ("system", "system", "Be brief."),
        ("user", "Count the boats."),
        ("system", "image", ""),
        ("reasoning", "Use both tools."),
        ("assistant", "I look."),
        ("call", "c1", "count", {"what": "boats"}),
        ("call", "c2", "weather", {}),
        ("result", "c2", "weather", "windy"),
        ("result", "c1", "count", "4"),
        ("reasoning", "done"),
        ("assistant", "Four boats."),
        ("user", "Thanks."),
    ]
    assert record.unread == {}


def test_replies_carry_their_numbers_and_the_record_its_sum():
    record = read_one(FILES / "paired.json")
    step = record.trajectory.turns[0].steps[0]
    assert (step.usage.cost_usd, step.model) == (0.01, "maker/one-2")
    assert record.usage == Usage(input_tokens=20, output_tokens=9, cost_usd=0.02)
    assert record.model == "maker/one"


def test_what_stands_beside_a_result_is_kept():
    results = [
        e for e in read_one(FILES / "paired.json").trajectory.events() if type(e) is ToolResult
    ]
    assert results[1].structured == {"content": None, "extra": {"exit": 0}}


def test_results_without_a_call_are_paired_in_their_step_and_others_are_observations():
    record = read_one(FILES / "by_position.json")
    assert rows(record) == [
        ("user", "Write a file."),
        ("assistant", "{}"),
        ("system", "observation", "ERROR: missing fields"),
        ("call", "c1", "write", {}),
        ("call", "c2", "done", {}),
        ("result", "c1", "write", "$ ok"),
        ("system", "paired_by_position", ""),
        ("result", "c2", "done", "sure?"),
        ("system", "paired_by_position", ""),
        ("system", "observation", "more"),
        ("system", "unknown_field", ""),
        ("system", "system", "handed over"),
        ("system", "subagent_trajectory_ref", ""),
    ]
    assert record.unread == {"unknown_field": 1}


def test_what_a_sub_agent_did_is_kept_apart():
    record = read_one(FILES / "subagents.json")
    assert [row for row in rows(record) if row[0] in {"call", "result"}] == [
        ("call", "c1", "delegate", {}),
        ("result", "c1", "delegate", ""),
    ]
    assert kinds(record) == ["subagent_trajectory_ref", "subagent_trajectory"]
    assert said(record) == ["It says no."]


@pytest.mark.parametrize("source", ["continued", "continued/trajectory.json"])
def test_parts_in_several_files_are_one_conversation(source):
    record = read_one(FILES / source)
    assert rows(record) == [
        ("user", "Make hello.txt."),
        ("assistant", "Begun."),
        ("user", "Go on from this summary."),
        ("assistant", "Half."),
        ("assistant", "Done."),
    ]
    assert record.usage == Usage(input_tokens=30, output_tokens=4)


def test_a_later_part_read_by_itself_is_what_it_holds():
    assert said(read_one(FILES / "continued" / "trajectory.cont-2.json")) == ["Done."]


def test_a_part_that_is_missing_is_named():
    record = read_one(FILES / "missing_part.json")
    assert (kinds(record), record.unread) == (
        ["continued_trajectory"],
        {"continued_trajectory": 1},
    )


@pytest.mark.parametrize("name", ["a.json", "../a.json", "/etc/hostname", "b.json"])
def test_a_conversation_that_goes_on_in_itself_ends(name, tmp_path):
    step = {"source": "user", "message": "Hi."}
    for file, reference in (("a.json", name), ("b.json", "a.json")):
        text = json.dumps(trajectory(step, continued_trajectory_ref=reference))
        (tmp_path / file).write_text(text, encoding="utf-8")
    record = read_one(tmp_path / "a.json")
    assert record.unread == {"continued_trajectory": 1}


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"schema_version": "ATIF-v2.0", "steps": []}, 'got "ATIF-v2.0"'),
        ({"schema_version": "ATIF-v1.9", "steps": []}, "must be ATIF-v1.0 to ATIF-v1.8"),
        ({"steps": []}, "got none"),
        (trajectory() | {"steps": 7}, "steps must be a list, got a number"),
        (trajectory(7), "steps[0] must be an object"),
        (trajectory({"source": "agent", "message": 7}), "steps[0]: content must be a text or"),
        (trajectory({"source": "agent", "tool_calls": 7}), "tool_calls must be a list"),
        (trajectory({"source": "agent", "tool_calls": [7]}), "a tool call must be an object"),
        (trajectory({"source": "agent", "observation": 7}), "observation.results must be a list"),
        (
            trajectory({"source": "agent", "observation": {"results": [7]}}),
            "a result must be an object",
        ),
        ([7], "a trajectory must be an object"),
    ],
)
def test_what_is_no_trajectory_is_a_fault_with_its_place(value, problem, tmp_path):
    path = tmp_path / "t.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_foreign(path, "atif")
    assert path.as_posix() in str(caught.value)
    assert problem in str(caught.value)


def test_a_step_of_an_unknown_source_is_kept_and_counted(tmp_path):
    path = tmp_path / "t.json"
    value = trajectory(
        {"source": "user", "message": "Hi."},
        {"source": "wind", "message": "whoo"},
        {"source": "agent", "tool_calls": [{}]},
    )
    path.write_text(json.dumps(value), encoding="utf-8")
    assert read_one(path).unread == {"step": 1, "unnamed_call": 1}
