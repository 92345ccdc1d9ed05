"""Runs as tables and messages."""

import csv
import json

import msgspec
import pytest
from fakes.factories import make_sample, make_trajectory
from pyarrow import parquet

from harness.importers.catalogue import IMPORTERS
from harness.importers.format_finding import read_source
from harness.importers.source_files import open_source
from harness.reports.table_files import write_chat, write_csv, write_parquet
from harness.reports.trial_rows import grader_names
from harness.running.foreign_trials import foreign_trial
from harness.types.errors import InputError
from harness.types.events import AssistantMessage, SystemEvent, UserMessage
from harness.types.grades import Grade
from harness.types.imports import Imported
from harness.types.trajectories import Usage
from harness.types.trials import Failure


def make_trial(sample_id="s1", **fields):
    record = Imported(place="r:1", trajectory=fields.pop("trajectory", make_trajectory()))
    trial = foreign_trial(record, make_sample(id=sample_id), model="m", epoch=0)
    return msgspec.structs.replace(trial, **fields)


TRIALS = [
    make_trial(
        passed=True,
        score=1.0,
        usage=Usage(input_tokens=5),
        grades={"told": Grade(score=1.0, passed=True, evidence='said "K41"')},
    ),
    make_trial(
        "s2",
        status="target_error",
        error=Failure(code="overloaded", message="503"),
        grades={"recorded.exit": Grade(status="skipped", evidence="the record says 7")},
    ),
]
NAMES = grader_names(TRIALS)


def test_a_row_of_csv_holds_the_trial_and_every_grade(tmp_path):
    write_csv(tmp_path / "t.csv", TRIALS, NAMES)
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        one, two = csv.DictReader(file)
    assert (one["sample_id"], one["passed"], one["input_tokens"]) == ("s1", "true", "5")
    assert (one["prompt"], one["answer"], one["turns"], one["tool_calls"]) == (
        "Find it.",
        "It is K41.",
        "1",
        "1",
    )
    assert (one["told.score"], one["told.evidence"]) == ("1.0", 'said "K41"')
    assert (one["cost_usd"], one["recorded.exit.status"], one["seconds"]) == ("", "", "")
    assert (two["error"], two["passed"]) == ("overloaded: 503", "")
    assert (two["recorded.exit.status"], two["told.score"]) == ("skipped", "")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_text_that_looks_like_a_formula_is_none_in_csv(tmp_path, text):
    said = [UserMessage(text=text), AssistantMessage(text=text)]
    trial = make_trial(text, trajectory=make_trajectory(said))
    write_csv(tmp_path / "t.csv", [trial], ())
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["sample_id"] == row["prompt"] == row["answer"] == f"'{text}"


def test_a_parquet_table_has_types_and_is_read_as_records_again(tmp_path):
    path = tmp_path / "t.parquet"
    write_parquet(path, TRIALS, NAMES)
    table = parquet.read_table(path)
    assert table.schema.field("score").type == "double"
    assert table.schema.field("passed").type == "bool"
    assert table.column("told.passed").to_pylist() == [True, None]
    records = list(read_source(open_source(path), IMPORTERS))
    assert [record.sample_id for record in records] == ["s1", "s2"]
    assert [len(list(record.trajectory.events())) for record in records] == [4, 4]


def test_a_number_that_no_table_holds_is_one_line(tmp_path):
    trial = make_trial(usage=Usage(input_tokens=2**70))
    with pytest.raises(InputError, match="does not fit into a Parquet table"):
        write_parquet(tmp_path / "t.parquet", [trial], ())


def test_conversations_become_messages_with_their_verdict(tmp_path):
    events = [UserMessage(text="q"), SystemEvent(kind="compaction", text="…")]
    trials = [TRIALS[0], make_trial("s3", trajectory=make_trajectory(events))]
    left_out = write_chat(tmp_path / "c.jsonl", trials, NAMES)
    first, second = map(json.loads, (tmp_path / "c.jsonl").read_text("utf-8").splitlines())
    assert (first["id"], first["model"], first["epoch"], first["passed"]) == ("s1", "m", 0, True)
    roles = [message["role"] for message in first["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant"]
    assert second["messages"] == [{"role": "user", "content": "q"}]
    assert left_out == {"compaction": 1}


def test_outcomes_usage_and_grades_are_written_and_read_again(tmp_path):
    outcomes = {"resolved": True, "stars": 0.5, "passed": False, "why": "tired"}
    record = Imported(
        place="r:1",
        trajectory=make_trajectory(),
        outcomes=outcomes,
        usage=Usage(input_tokens=12, output_tokens=3, cost_usd=0.25),
    )
    trial = foreign_trial(record, make_sample(id="s1"), model="m", epoch=0)
    own = Grade(score=0.5, passed=False, evidence="half")
    trial = msgspec.structs.replace(trial, grades={**trial.grades, "told": own}, passed=True)
    assert write_chat(tmp_path / "c.jsonl", [trial], ()) == {}
    (read,) = read_source(open_source(tmp_path / "c.jsonl"), IMPORTERS)
    # The verdict of the record that is read goes before what an earlier one said.
    assert read.outcomes == {**outcomes, "passed": True}
    assert read.fields["outcomes"]["passed"] is False
    assert read.usage == record.usage
    assert read.fields["grades"]["told"] == {
        "status": "graded",
        "passed": False,
        "score": 0.5,
        "evidence": "half",
    }


def test_end_states_and_failures_are_counted_or_kept(tmp_path):
    trials = [make_trial(snapshots={"db": {}, "shop": []}), TRIALS[1]]
    assert write_chat(tmp_path / "c.jsonl", trials, NAMES) == {"snapshot": 2}
    _, second = map(json.loads, (tmp_path / "c.jsonl").read_text("utf-8").splitlines())
    assert second["error"] == {"code": "overloaded", "message": "503"}
