import json
import shutil

import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign, read_one, rows, said

from harness.types.errors import InputError
from harness.types.events import AssistantMessage, SystemEvent
from harness.types.trajectories import Turn, Usage

FILES = FOREIGN / "vally"


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_files_of_the_format_are_told_by_their_shape(path):
    assert find_foreign(path) == "vally"


def test_a_result_is_a_conversation_with_the_verdicts_it_brought():
    record = read_foreign(FILES / "results.jsonl")[0]
    assert [row for row in rows(record) if row[0] != "system"] == [
        ("user", "Which train?"),
        ("reasoning", "Look it up."),
        ("call", "c1", "lookup", {"to": "Aalund"}),
        ("result", "c1", "lookup", '{"train":"X7"}'),
        ("assistant", "The X7."),
        ("user", "Book it."),
        ("call", "c2", "book", ["X7"]),
        ("failed", "c2", "book", "full"),
        ("error", "EIO", "slow disk"),
        ("assistant", "Booked."),
    ]
    assert record.outcomes == {"passed": False, "score": 0.5, "says-train": 1.0, "books": False}
    assert (record.sample_id, record.model, record.epoch) == ("find-train", "maker/one", 0)
    assert (record.seconds, record.prompts) == (1.5, ("Which train?", "Book it."))


def test_a_turn_without_marks_of_replies_says_so(tmp_path):
    events = [
        {"type": "user_message", "data": {"content": "q"}},
        {"type": "assistant_message", "data": {"content": "a"}},
        {"type": "user_message", "data": {"content": "more"}},
        {"type": "turn_start", "data": {}},
    ]
    path = tmp_path / "trajectory.json"
    path.write_text(json.dumps({"events": events, "output": "a"}), encoding="utf-8")
    first, second = read_one(path).trajectory.turns
    assert [event.kind for event in first.events if isinstance(event, SystemEvent)] == [
        "turn_end_missing"
    ]
    assert [event.kind for event in second.events if isinstance(event, SystemEvent)] == [
        "turn_start"
    ]


def test_the_folder_of_a_run_is_its_results_and_their_parts_are_not_read_again(tmp_path):
    shutil.copy(FILES / "results.jsonl", tmp_path)
    (tmp_path / "eval-results.md").write_text("# Results", encoding="utf-8")
    trial = tmp_path / "rail" / "find-train" / "trial-0"
    trial.mkdir(parents=True)
    shutil.copy(FILES / "events.jsonl", trial)
    (trial / "metadata.json").write_text("{}", encoding="utf-8")
    assert find_foreign(tmp_path) == "vally"
    assert len(read_foreign(tmp_path)) == 4


def test_what_happened_around_the_agent_is_kept_by_its_kind():
    record = read_foreign(FILES / "results.jsonl")[0]
    kinds = [e.kind for e in record.trajectory.events() if isinstance(e, SystemEvent)]
    assert [kind for kind in kinds if not kind.startswith("turn_")] == [
        "skill_activation",
        "compaction",
        "probe",
        "weather",
    ]
    assert record.unread == {"weather": 1}


def test_replies_carry_their_tokens_and_the_record_its_sum():
    record = read_one(FILES / "trajectory.json")
    first, _second = record.trajectory.turns
    assert [step.usage.input_tokens for step in first.steps] == [None, 20]
    assert first.steps[1].model == "maker/one"
    assert record.usage == Usage(input_tokens=50, output_tokens=9)


def test_a_trial_without_an_answer_in_its_events_says_its_output():
    record = read_foreign(FILES / "results.jsonl")[1]
    assert (said(record), record.epoch) == (["The X7."], 1)


def test_a_trial_that_could_not_be_run_and_one_that_was_skipped_have_no_events():
    *_, broken, skipped = read_foreign(FILES / "results.jsonl")
    assert (broken.status, broken.failure.message) == (
        "target_error",
        "the executor did not start",
    )
    assert (skipped.status, skipped.skipped) == ("completed", "unsupported")
    assert (rows(broken), rows(skipped)) == ([], [])


def test_events_go_to_the_turn_they_name():
    record = read_one(FILES / "legacy.jsonl")
    turns = record.trajectory.turns
    assert [[e.text for e in turn.events if isinstance(e, AssistantMessage)] for turn in turns] == [
        ["The X7."],
        ["Booked."],
    ]
    assert record.outcomes == {"passed": True, "score": 1.0}


@pytest.mark.parametrize("turn", [10**9, -1, True, "1"])
def test_a_turn_that_cannot_be_is_that_of_the_user(turn, tmp_path):
    event = {"type": "assistant_message", "data": {"content": "Hi."}, "turn": turn}
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"events": [event], "output": "Hi."}), encoding="utf-8")
    assert len(read_one(path).trajectory.turns) == 1


def test_a_turn_that_nothing_belongs_to_is_empty(tmp_path):
    say = {"type": "assistant_message", "data": {"content": "Hi."}}
    events = [{**say, "turn": 0}, {**say}, {**say, "turn": 2}]
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"events": events, "output": ""}), encoding="utf-8")
    assert read_one(path).trajectory.turns[1] == Turn()


def test_a_log_of_events_is_the_conversation_of_a_trajectory():
    assert rows(read_one(FILES / "events.jsonl")) == rows(read_one(FILES / "trajectory.json"))


def test_a_session_of_copilot_counts_calls_and_texts_once():
    record = read_one(FILES / "session.json")
    assert rows(record)[1:] == [
        ("user", "Which train?"),
        ("system", "attachments", ""),
        ("system", "turn_start", ""),
        ("reasoning", "Use the skill."),
        ("assistant", "Let me see."),
        ("call", "c1", "skill", {"skill": "rail"}),
        ("call", "c2", "task", {"to": "helper"}),
        ("call", "c3", "lookup", {}),
        ("result", "c3", "lookup", "X7"),
        ("system", "subagent_message", "It is the X7."),
        ("result", "c1", "skill", "loaded"),
        ("failed", "c2", "task", "helper stopped"),
        ("system", "skill_activation", "rail"),
        ("system", "turn_end", ""),
        ("system", "galaxy.moved", ""),
        ("error", "quota", "nearly out"),
        ("assistant", "The X7."),
    ]
    assert (record.model, record.unread) == ("maker/one", {"galaxy.moved": 1})


def test_what_a_sub_agent_does_bears_the_call_that_started_it_and_is_no_reply():
    record = read_one(FILES / "session.json")
    events = [e for e in record.trajectory.events() if e.parent_call_id == "c2"]
    assert len(events) == 3
    (turn,) = record.trajectory.turns
    assert [step.usage.input_tokens for step in turn.steps] == [30, None]


def test_the_exit_code_of_a_session_is_an_outcome():
    record = read_one(FILES / "session.jsonl")
    assert (record.outcomes, said(record)) == ({"exit_code": 3}, ["The X7."])


def test_runs_of_waza_are_epochs_with_the_scores_of_their_validations():
    records = read_foreign(FILES / "waza.json")
    assert [(r.sample_id, r.model, r.epoch) for r in records] == [
        ("find-train", "maker/one", 0),
        ("find-train", "maker/one", 1),
        ("find-train", "maker/one", 2),
        ("find-train", "maker/one (baseline)", 0),
    ]
    first, broken, skipped, _baseline = records
    assert first.outcomes == {"passed": True, "says": 1.0, "tone": 0.4}
    assert (broken.status, broken.failure.message) == ("target_error", "no session")
    assert skipped.skipped is not None
    assert first.usage == Usage(input_tokens=14, output_tokens=3)


def test_a_transcript_of_waza_is_a_session_and_its_summary_is_no_answer():
    record = read_foreign(FILES / "waza.json")[0]
    assert rows(record) == [
        ("assistant", "Let me look."),
        ("call", "c1", "lookup", {"to": "Aalund"}),
        ("result", "c1", "lookup", "X7"),
        ("assistant", "The X7."),
        ("system", "skill_activation", "rail"),
    ]
    assert rows(read_foreign(FILES / "waza.json")[1]) == []
    assert read_one(FILES / "waza_transcript.json").prompts == ("Which train?",)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (7, "the record is no result and no trajectory of Vally"),
        ({"type": "trial-result", "trajectory": 7}, "trajectory must be an object or null"),
        ({"type": "trial-result", "trajectory": {"events": 7}}, "events must be a list"),
        ({"eval_id": "e", "tasks": [7]}, "tasks[0].runs must be a list"),
        ({"eval_id": "e", "tasks": [{"runs": [7]}]}, "a run must be an object"),
    ],
)
def test_what_is_no_record_is_a_fault_with_its_place(value, problem, tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_foreign(path, "vally")
    assert f"{path.as_posix()}:1" in str(caught.value)
    assert problem in str(caught.value)
