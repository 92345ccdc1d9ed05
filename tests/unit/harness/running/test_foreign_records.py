"""Records of other tools, surveyed and given as trials with their samples."""

import json
import tracemalloc

import pytest
from fakes.record_files import chat, write_lines

from harness.running.foreign_records import recorded_elsewhere
from harness.running.record_mapping import read_field_map
from harness.running.record_reading import Records
from harness.types.errors import InputError
from harness.types.samples import Sample
from harness.types.suites import Suite

TRAINS = Suite(
    name="s",
    samples=(
        Sample(id="one", input="Which train?", ground_truth="Tuesday"),
        Sample(id="two", input="Which seat?"),
        Sample(id="three", input="Which seat?"),
    ),
)


def survey(path, *, suite=None, fields=(), **more):
    records = Records(path=path, fields=read_field_map(fields), **more)
    return recorded_elsewhere(suite, records)


def trials(recorded):
    return [(trial.sample_id, trial.model, trial.epoch) for _, trial in recorded.pairs()]


def faults(path, **more):
    with pytest.raises(InputError) as caught:
        survey(path, **more)
    return [str(fault).replace(path.parent.as_posix(), ".") for fault in caught.value.faults]


def test_samples_models_and_epochs_come_from_the_records(tmp_path):
    records = [chat(id="a", model="x"), chat(id="b", model="x"), chat(id="a", model="x"), chat()]
    recorded = survey(write_lines(tmp_path / "r.jsonl", records))
    (*known, (nameless, _, _)) = trials(recorded)
    assert known == [("a", "x", 0), ("b", "x", 0), ("a", "x", 1)]
    assert nameless.startswith("prompt-")
    assert (recorded.planned, recorded.models, recorded.epochs) == (4, ("x", "default"), 2)
    assert recorded.dataset.count == 3
    assert all(trial.sample == sample for sample, trial in recorded.pairs())


def test_a_record_whose_id_holds_a_secret_is_refused_without_showing_it(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "canary-9f3a")
    path = write_lines(tmp_path / "r.jsonl", [chat(id="a"), chat(id="canary-9f3a")])
    [fault] = faults(path)
    assert "r.jsonl:2: the id holds the value of a secret" in fault
    assert "canary" not in fault


def test_the_origin_is_told_with_its_hash(tmp_path):
    path = write_lines(tmp_path / "r.jsonl", [chat(id="a")])
    origin = survey(path).source
    assert (origin.format, origin.records, origin.source) == ("openai-chat", 1, path.as_posix())
    assert origin.sha256 == survey(path).source.sha256
    write_lines(path, [chat(id="b")])
    assert origin.sha256 != survey(path).source.sha256


def test_fields_are_mapped_and_outcomes_become_grades(tmp_path):
    records = [
        chat(instance_id="a", run={"by": "x", "k": 3}, fixed=True),
        chat(instance_id="a", run={"by": "x", "k": 1}),
    ]
    path = write_lines(tmp_path / "r.jsonl", records)
    fields = ["sample=instance_id,model=run.by,epoch=run.k", "outcome=fixed"]
    recorded = survey(path, fields=fields)
    assert trials(recorded) == [("a", "x", 3), ("a", "x", 1)]
    grades = [trial.grades for _, trial in recorded.pairs()]
    assert grades[0]["recorded.fixed"].score == 1.0
    assert grades[1] == {}


def test_records_are_joined_to_the_samples_of_a_suite_in_any_order(tmp_path):
    records = [
        chat("Which seat?", id="three"),
        chat("Which  train?"),
        chat("Which seat?", id="two"),
        chat("Which train?", id="one"),
    ]
    recorded = survey(write_lines(tmp_path / "r.jsonl", records), suite=TRAINS)
    assert trials(recorded) == [
        ("three", "default", 0),
        ("one", "default", 0),
        ("two", "default", 0),
        ("one", "default", 1),
    ]
    assert [sample.id for sample, _ in recorded.pairs()] == ["three", "one", "two", "one"]
    assert recorded.warnings == []


def test_records_without_a_sample_are_faults_each_with_its_place(tmp_path):
    records = [chat("Which train?", id="one"), chat("Which seat?"), chat("Else?", id="four")]
    path = write_lines(tmp_path / "r.jsonl", records)
    unmatched, unknown = faults(path, suite=TRAINS)
    assert unmatched.startswith(
        "./r.jsonl:2: it has no id, and several samples have its prompts; --allow-unmatched"
    )
    assert './r.jsonl:3: its id "four" is not in the dataset' in unknown
    recorded = survey(path, suite=TRAINS, allow_unmatched=True)
    assert trials(recorded) == [("one", "default", 0)]
    left_out, without = recorded.warnings
    assert "2 records belong to no sample, left out: " in left_out
    assert "r.jsonl:2, " in left_out
    assert without == "2 of 3 samples have no record"


def test_records_that_may_be_of_another_sample_are_counted_and_the_first_is_named(tmp_path):
    records = [
        chat("Which train?", id="one"),
        chat("Else?", id="one"),
        chat("Else?", id="two"),
        chat("Which seat?", id="three"),
        {"messages": [*chat("Which train?")["messages"], {"role": "user", "content": "Thanks."}]},
    ]
    recorded = survey(write_lines(tmp_path / "r.jsonl", records), suite=TRAINS)
    assert [sample_id for sample_id, _, _ in trials(recorded)] == [
        "one",
        "one",
        "two",
        "three",
        "one",
    ]
    assert [line.replace(tmp_path.as_posix(), ".") for line in recorded.warnings] == [
        "2 records have the id of a sample, and other prompts than it; the first is ./r.jsonl:2",
        "1 record goes on after the prompts of its sample; the first is ./r.jsonl:5",
    ]


@pytest.mark.parametrize("allow", [True, False])
def test_a_source_of_which_no_record_has_a_sample_is_a_fault(tmp_path, allow):
    path = write_lines(tmp_path / "r.jsonl", [chat("Else?", id="x")])
    assert len(faults(path, suite=TRAINS, allow_unmatched=allow)) == 1


def test_faults_alike_are_told_of_two_records_and_counted(tmp_path):
    records = [chat(instance_id=str(n)) for n in range(7)]
    path = write_lines(tmp_path / "r.jsonl", records)
    assert faults(path, fields=["sample=instance_Id"]) == [
        './r.jsonl:1: --map sample: it has no field "instance_Id"; did you mean "instance_id"?',
        './r.jsonl:2: --map sample: it has no field "instance_Id"; did you mean "instance_id"?',
        './r.jsonl: --map sample: it has no field "instance_Id", in 5 more records',
    ]


def test_an_outcome_that_no_record_has_is_a_fault(tmp_path):
    path = write_lines(tmp_path / "r.jsonl", [chat(id="a", resolved=True), chat(id="b")])
    assert faults(path, fields=["outcome=resolvd"]) == [
        '--map outcome: no record has a field "resolvd"; did you mean "resolved"?'
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"messages": [{"role": "user"', "./r.jsonl:2: this line is no JSON"),
        ('{"nothing": 1}', "./r.jsonl:2: the record holds no list of messages"),
    ],
)
def test_a_damaged_source_is_one_line_with_its_place(tmp_path, text, said):
    path = tmp_path / "r.jsonl"
    path.write_text(f"{json.dumps(chat())}\n{text}\n", encoding="utf-8")
    (fault,) = faults(path)
    assert fault.startswith(said)


def test_an_empty_or_unknown_source_is_one_line(tmp_path):
    (tmp_path / "empty.jsonl").write_text("", encoding="utf-8")
    assert "it holds no record" in faults(tmp_path / "empty.jsonl")[0]
    assert "no such file" in faults(tmp_path / "nothing.jsonl")[0]
    (tmp_path / "folder").mkdir()
    assert "holds no conversation" in faults(tmp_path / "folder")[0]


def test_a_folder_is_read_through_and_says_what_was_left_out(tmp_path):
    inner = tmp_path / "records" / "more"
    inner.mkdir(parents=True)
    write_lines(inner / "b.jsonl", [chat(id="b"), chat(id="b")])
    write_lines(tmp_path / "records" / "a.json", [chat(id="a")])
    (tmp_path / "records" / "NOTES.md").write_text("Some notes.", encoding="utf-8")
    (tmp_path / "records" / ".hidden.json").write_text("{", encoding="utf-8")
    recorded = survey(tmp_path / "records")
    assert [sample_id for sample_id, _, _ in trials(recorded)] == ["a", "b", "b"]
    (left_out,) = recorded.warnings
    assert left_out.endswith("records/NOTES.md")


def test_two_conversations_of_one_id_with_other_prompts_are_told(tmp_path):
    records = [chat("Which train?", id="a"), chat("Which seat?", id="a")]
    recorded = survey(write_lines(tmp_path / "r.jsonl", records))
    assert [sample.input for sample, _ in recorded.pairs()] == ["Which train?", "Which seat?"]
    assert "other prompts" in recorded.warnings[0]


def test_records_that_tell_the_same_epoch_are_numbered_on(tmp_path):
    records = [chat(id="a", k=1), chat(id="a", k=1)]
    recorded = survey(write_lines(tmp_path / "r.jsonl", records), fields=["epoch=k"])
    assert [epoch for _, _, epoch in trials(recorded)] == [1, 2]
    assert "1 record repeats an epoch" in recorded.warnings[0]


def test_what_is_not_understood_is_one_warning_a_kind(tmp_path):
    record = chat(id="a")
    record["messages"].insert(1, {"role": "narrator", "content": "Meanwhile"})
    record["messages"].insert(1, {"role": "narrator", "content": "Earlier"})
    recorded = survey(write_lines(tmp_path / "r.jsonl", [record, chat(id="b")]))
    assert [w for w in recorded.warnings if "narrator" in w] == [
        "not understood, and kept as an event of the system: narrator, 2x in 1 of 2 records"
    ]


def test_results_without_a_call_are_counted_in_a_warning(tmp_path):
    record = chat(id="a")
    record["messages"].insert(1, {"role": "tool", "tool_call_id": "c1", "content": "early"})
    record["messages"].append({"role": "tool", "tool_call_id": "c9", "content": "ghost"})
    recorded = survey(write_lines(tmp_path / "r.jsonl", [record, chat(id="b")]))
    assert recorded.warnings == [
        "results of tools without a call before them, kept without a name: 2 in 1 of 2 records"
    ]


def test_records_in_the_opposite_order_of_the_dataset_find_their_samples(tmp_path):
    samples = tuple(Sample(id=str(n), input=f"q{n}") for n in range(50))
    records = [chat(id=str(n)) for n in range(49, -1, -1)]
    recorded = survey(
        write_lines(tmp_path / "r.jsonl", records), suite=Suite(name="s", samples=samples)
    )
    assert [sample.id for sample, _ in recorded.pairs()] == [str(n) for n in range(49, -1, -1)]


def test_records_are_read_as_a_stream(tmp_path):
    long = chat("Which train? " + "x" * 100_000)
    path = write_lines(tmp_path / "r.jsonl", [{**long, "id": str(n)} for n in range(100)])
    tracemalloc.start()
    try:
        assert sum(1 for _ in survey(path).pairs()) == 100
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < path.stat().st_size / 4


def test_what_could_not_be_kept_of_the_records_is_a_warning(tmp_path):
    path = tmp_path / "r.jsonl"
    record = json.dumps(chat(id="a", note="n"))
    path.write_text(record + "\n" + record[:-1] + r', "note": "\ud800"}', encoding="utf-8")
    warnings = [text.replace(tmp_path.as_posix(), ".") for text in survey(path).warnings]
    assert warnings == [
        'duplicate keys, of which the last counts: 1x, first "note" in ./r.jsonl:2',
        "texts with lone surrogates, which became U+FFFD: 1x, first ./r.jsonl:2",
    ]
