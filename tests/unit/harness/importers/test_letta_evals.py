import json

import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign, read_one, rows

from harness.types.errors import InputError
from harness.types.trajectories import Usage

FILES = FOREIGN / "letta_evals"


@pytest.mark.parametrize(
    "name",
    [
        "newest",
        "newest/suite.json",
        "newest/summary.json",
        "newest/maker-one.jsonl",
        "runs",
        "runs/maker-one/run_1.jsonl",
        "runs/maker-one/summary.json",
        "interrupted",
        "older",
        "older/run_1",
        "older/run_1/header.json",
        "older/run_1/results.jsonl",
        "older/run_1/summary.json",
        "older/aggregate_stats.json",
        "oldest.jsonl",
        "before.json",
        "bare/maker-one.jsonl",
        "one_sample.json",
    ],
)
def test_files_of_the_format_are_told_by_their_shape(name):
    assert find_foreign(FILES / name) == "letta-evals"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "newest",
            [
                ("p-7", "maker/one", None),
                ("1", "maker/one", None),
                ("p-3", "maker/one", None),
                ("p-3", "maker/two", None),
            ],
        ),
        ("runs", [("p-7", "maker/one", 0), ("p-7", "maker/one", 1)]),
        (
            "older",
            [
                ("0", "maker/old", 0),
                ("1", "maker/old", 0),
                ("0", "maker/old", 1),
                ("1", "maker/old", 1),
            ],
        ),
        ("oldest.jsonl", [("0", "maker/old", None)]),
        ("before.json", [(None, None, None)]),
        ("interrupted", [("p-7", "maker/one", None)]),
        ("bare", [("p-7", "maker/one", None)]),
        ("newest/summary.json", []),
    ],
)
def test_every_layout_gives_sample_model_and_epoch_of_each_result(name, expected):
    found = [(r.sample_id, r.model, r.epoch) for r in read_foreign(FILES / name)]
    assert found == expected


def test_a_result_is_a_conversation_with_its_sample_scores_and_numbers():
    record = read_foreign(FILES / "newest")[0]
    assert rows(record) == [
        ("system", "system", "You find parcels."),
        ("user", "Where is parcel P-7?"),
        ("call", "c1", "find_parcel", {"id": "P-7"}),
        ("result", "c1", "find_parcel", "Ulm"),
        ("assistant", "It is in Ulm."),
    ]
    assert record.outcomes == {"place": 1.0, "tone": 0.5, "reward": 0.75}
    assert (record.sample.ground_truth, record.sample.rubric_vars) == ("Ulm", {"mood": "kind"})
    assert record.usage == Usage(input_tokens=30, output_tokens=5, cost_usd=0.002)
    assert (record.seconds, record.status) == (2.5, "completed")


def test_the_state_of_the_agent_is_kept_and_no_secret_is():
    records = read_foreign(FILES / "newest")
    assert records[0].snapshots["agent_state"]["blocks"][0]["value"] == "calm"
    assert "hush" not in str(records)


def test_a_turn_without_its_prompt_begins_with_that_of_the_sample():
    record = read_foreign(FILES / "newest")[1]
    assert rows(record) == [
        ("user", "Where is P-8?"),
        ("assistant", "In Bern."),
        ("user", "And P-9?"),
        ("system", "weather_message", ""),
        ("assistant", "In Graz."),
    ]
    assert record.sample.ground_truth == ("Bern", "Graz")
    assert record.unread == {"weather_message": 1}
    tokens = [turn.steps[0].usage.input_tokens for turn in record.trajectory.turns]
    assert tokens == [9, 11]


def test_broken_grading_is_told_and_the_conversation_counts():
    record = read_foreign(FILES / "newest")[1]
    assert (record.status, record.outcomes) == (
        "completed",
        {"error": "grading: KeyError: 'mood'"},
    )


def test_a_time_limit_is_the_agents_failure_and_any_other_end_an_error():
    *_, late, lost = read_foreign(FILES / "newest")
    assert (late.status, late.failure.code) == ("agent_failure", "trial_timeout")
    assert (lost.status, lost.failure.message) == ("target_error", "RuntimeError: no agent")


def test_a_failure_that_old_versions_tell_in_words_is_one():
    record = read_foreign(FILES / "older")[1]
    assert (record.status, record.failure.message) == ("target_error", "server gone")


def test_several_prompts_sent_as_one_are_one_turn(tmp_path):
    sample = {"id": 4, "input": ["Hello.", "Bye."]}
    result = {"sample_id": 4, "trajectory": [[]], "submissions": {}, "grades": {}}
    suite = {"suite": "s", "config": {}, "samples": [sample]}
    (tmp_path / "suite.json").write_text(json.dumps(suite), encoding="utf-8")
    (tmp_path / "m.jsonl").write_text(json.dumps(result), encoding="utf-8")
    record = read_one(tmp_path)
    assert rows(record) == [("user", "Hello.\nBye.")]
    assert record.sample.turns == ("Hello.", "Bye.")


def test_results_from_before_there_were_ids_have_their_prompts():
    record = read_one(FILES / "before.json")
    assert rows(record) == [
        ("user", "Where is P-7?"),
        ("reasoning", "Look."),
        ("assistant", "In Ulm."),
    ]
    assert (record.prompts, record.outcomes) == (("Where is P-7?",), {"grade": 0.9})


@pytest.mark.parametrize(
    ("extractor", "said"),
    [
        ("last_assistant", [("assistant", "In Ulm.")]),
        (None, [("assistant", "In Ulm.")]),
        ("tool_output", []),
        ("memory_block", []),
    ],
)
def test_without_a_trajectory_the_words_taken_out_of_it_are_what_was_said(
    extractor, said, tmp_path
):
    graders = {"place": {"kind": "tool", "extractor": extractor}}
    header = {"type": "header", "suite": "s", "config": {"graders": graders}}
    sample = {"id": 0, "input": "Where?"}
    result = {"sample": sample, "submission": "In Ulm.", "trajectory": [], "agent_id": "agent-1"}
    path = tmp_path / "results.jsonl"
    lines = [header, {"type": "result", "result": result}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert rows(read_one(path)) == ([("user", "Where?"), *said] if said else [])


def test_the_torn_last_line_of_an_interrupted_run_is_counted():
    assert read_one(FILES / "interrupted").unread == {"torn_line": 1}


def test_a_torn_line_anywhere_else_is_a_fault(tmp_path):
    line = json.dumps({"sample_id": 1, "trajectory": [], "grades": {}, "submissions": {}})
    path = tmp_path / "m.jsonl"
    path.write_text(f'{line}\n{{"sample_id\n{line}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"m\.jsonl:2: this line is no JSON"):
        read_foreign(path, "letta-evals")


def test_a_file_of_one_run_finds_its_suite_one_folder_up():
    record = read_one(FILES / "runs" / "maker-one" / "run_2.jsonl")
    assert (record.epoch, record.sample.ground_truth) == (1, "Ulm")


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"input": "Where?"}, "the record is no result of letta-evals"),
        ({"sample_id": 1, "trajectory": [[3]], "grades": {}}, "trajectory[0]: message 0"),
        (
            {"type": "result", "result": {"trajectory": 3}},
            "trajectory must be a list, got a number",
        ),
        (
            {"type": "result", "result": {"trajectory": [[], 3]}},
            "trajectory[1] must be a list, got a number",
        ),
    ],
)
def test_what_is_no_result_is_a_fault_with_its_place(value, problem, tmp_path):
    path = tmp_path / "m.jsonl"
    path.write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_foreign(path, "letta-evals")
    assert f"{path.as_posix()}:1: " in str(caught.value)
    assert problem in str(caught.value)
