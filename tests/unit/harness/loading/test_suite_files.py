import pytest

from harness.loading.suite_files import load_suite
from harness.types.errors import SuiteError
from harness.types.suites import GateSpec, Limits, Retries, Suite

FULL = """\
name: release-train
description: Says what the tool said.
samples: [{id: a, input: hello}]
graders: {g: {type: contains}}
epochs: 3
retries: {attempts: 2, max_wait_seconds: 5}
limits: {concurrency: 4, turn_seconds: ~, max_error_rate: 0}
scoring: {threshold: 0.8}
gates:
  - {metric: g, op: gte, value: 0.95}
  - {metric: trial, aggregation: pass_rate, op: gt, value: 1}
"""


def test_every_part_of_a_suite_is_read(folder):
    path = folder.write("suite.yaml", FULL)
    suite = load_suite(path)
    assert (suite.name, suite.description) == ("release-train", "Says what the tool said.")
    assert (suite.epochs, suite.retries) == (3, Retries(attempts=2, max_wait_seconds=5))
    assert suite.limits == Limits(concurrency=4, turn_seconds=None, max_error_rate=0)
    assert suite.scoring.threshold == 0.8
    assert suite.gates == (
        GateSpec(metric="g", op="gte", value=0.95),
        GateSpec(metric="trial", aggregation="pass_rate", op="gt", value=1),
    )
    assert (suite.text, suite.source, suite.target, suite.warnings) == (FULL, path, None, ())
    assert Suite.from_yaml(path) == suite


def test_a_suite_is_made_of_a_mapping_too(folder):
    folder.write("d.jsonl", '{"input": "x"}\n')
    document = {"name": "s", "dataset": "d.jsonl", "graders": {"g": {"type": "contains"}}}
    suite = Suite.from_mapping(document, folder.path)
    assert suite.dataset is not None
    assert suite.dataset.path == folder.path / "d.jsonl"
    assert (suite.source, suite.text) == (None, "")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"name": 3}, "suite: name: found 3; a text"),
        ({"epochs": True}, "suite: epochs: found true; a whole number"),
        ({"epochs": "3"}, "suite: epochs: found the text '3'; a whole number"),
        ({"epochs": float("nan")}, "suite: a document cannot hold the number nan"),
        ({"description": {1: 2}}, "suite: a key must be a text, not 1"),
        ({"description": object()}, "suite: a document cannot hold a value of type object"),
        ({"graders": ["contains"]}, "suite: graders[0]: found the text 'contains'"),
    ],
)
def test_a_mapping_is_checked_as_yaml_is(folder, change, expected):
    document = {"name": "s", "samples": [{"input": "x"}], "graders": [{"type": "contains"}]}
    with pytest.raises(SuiteError) as caught:
        Suite.from_mapping(document | change, folder.path)
    assert [str(fault)[: len(expected)] for fault in caught.value.faults] == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name: x\n", "graders: unknown"),
        ("concurrency: 4", 'unknown key "concurrency"; it belongs under `limits`'),
        ("attempts: 4", 'unknown key "attempts"; it belongs under `retries`'),
        ("threshold: 0.5", 'unknown key "threshold"; it belongs under `scoring`'),
        ("models: [a]", 'unknown key "models"; it belongs under `target`'),
        ("turn: 1", 'unknown key "turn"; allowed: comparison, dataset'),
        ("limits: {epochs: 2}", 'unknown key "epochs"; it belongs one level up, beside `limits`'),
        ("epoch: 3", 'unknown key "epoch"; did you mean "epochs"?'),
        ("reward: {}", 'reward: "kind" is missing; one of: metric, custom'),
        ("rewardz: {kind: metric, metric_key: g}", 'unknown key "rewardz"; did you mean "reward"?'),
        ("epochs: 0", "epochs: found 0; at least 1"),
        ("epochs: 1.0", "epochs: found 1.0; a whole number"),
        ("epochs: 010", "epochs: the number 010 begins with a zero; write 10"),
        ("epochs: [1]", "epochs: found a list; a whole number"),
        ("epochs:", "epochs: found nothing; a whole number"),
        ("limits: {concurency: 3}", 'unknown key "concurency"; did you mean "concurrency"?'),
        ("limits: {turn_seconds: 0}", "limits.turn_seconds: found 0; more than 0"),
        ("limits: {turn_seconds: 2m}", "limits.turn_seconds: found the text '2m'; a number"),
        ("limits: [1]", "limits: found a list; a mapping of options"),
        ("retries: {attempts: 0}", "retries.attempts: found 0; at least 1"),
        ("gates: {metric: g}", "gates: found a mapping; a list of gates"),
        (
            "gates: [{metric: gg, op: gt, value: 1}]",
            'no grader of the suite is called "gg"; did you mean',
        ),
        ("gates: [{metric: g, op: '>', value: 1}]", "found the text '>'; allowed: eq, gt"),
        ("gates: [{metric: g, op: gt}]", '"value" is missing'),
        ("gates: [{metric: g, op: gt, value: ~}]", "gates[0].value: found nothing; a number"),
        ("gates: [{metric: g, op: gt, vale: 1}]", 'unknown key "vale"; did you mean "value"?'),
        ("gates: [{metric: g, agregation: min, op: gt, value: 1}]", 'mean "aggregation"?'),
        ("dataset: x.jsonl", 'dataset: there is no file "x.jsonl"'),
    ],
)
def test_a_mistake_is_one_fault(folder, text, expected):
    if text.startswith("name"):
        folder.write(
            "suite.yaml", "name: s\nsamples: [{input: x}]\ngrader: {g: {type: contains}}\n"
        )
        expected = 'grader: unknown key "grader"; did you mean "graders"?'
    else:
        folder.suite(text)
    found = folder.faults()
    assert len(found) == 1, found
    assert expected in found[0]


def test_a_gate_on_a_grader_that_only_single_samples_have_is_a_fault(folder):
    folder.suite(
        "samples: [{input: x, graders: {own: {type: contains}}}]\n"
        "gates: [{metric: own, op: gte, value: 1}]",
        samples=False,
    )
    [fault] = folder.faults()
    assert fault == (
        'suite.yaml:4:18: gates[0].metric: no grader of the suite is called "own"; '
        "allowed: cost_usd, errors, g, seconds, steps, tokens, tool_calls, trial"
    )


def test_a_gate_may_name_a_model_that_the_suite_has(folder):
    folder.write("a.py", "def agent(sample): ...\n")
    folder.suite(
        "target: {kind: python, agent: 'a.py:agent', models: [one, two]}\n"
        "gates:\n"
        "  - {metric: g, model: one, op: gt, value: 0}\n"
        "  - {metric: g, model: oen, op: gt, value: 0}\n"
    )
    [fault] = folder.faults()
    assert fault == (
        'suite.yaml:7:24: gates[1].model: the suite has no model "oen"; did you mean "one"?'
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("010", "010"),
        ("1.10", "1.10"),
        ("1e3", "1e3"),
        ("true", "true"),
        ("NO", "NO"),
        ("12:30:00", "12:30:00"),
        ("2031-02-03", "2031-02-03"),
        ("'~'", "~"),
    ],
)
def test_a_text_is_what_was_written(folder, text, value):
    path = folder.write(
        "suite.yaml", f"name: {text}\nsamples: [{{input: x}}]\ngraders: [{{type: contains}}]\n"
    )
    assert load_suite(path).name == value


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("none.jsonl", 'dataset: there is no file "none.jsonl"; did you mean "one.jsonl"?'),
        ("d.txt", 'dataset: "d.txt" is no dataset by its name; a file whose name ends in .jsonl'),
        ("folder.csv", 'dataset: "folder.csv" is a folder; a JSONL or CSV file'),
        ('"a\\new.csv"', "dataset: the path holds the control character '\\n'"),
    ],
)
def test_the_file_of_the_dataset_is_checked(folder, name, expected):
    folder.write("one.jsonl", '{"input": "x"}\n')
    folder.write("d.txt", "")
    folder.write("folder.csv/x", "")
    folder.suite(f"dataset: {name}", samples=False)
    [fault] = folder.faults()
    assert expected in fault


@pytest.mark.parametrize("name", ["D.JSONL", "d.Csv"])
def test_the_suffix_of_a_dataset_is_of_any_case(folder, name):
    folder.write(name, '{"input": "x"}\n' if "J" in name else "input\nx\n")
    folder.suite(f"dataset: {name}", samples=False)
    assert folder.faults() == []


def test_a_suite_that_is_not_there_or_is_a_folder_is_one_fault(folder):
    for path in (folder.path / "no.yaml", folder.path):
        with pytest.raises(SuiteError) as caught:
            load_suite(path)
        [fault] = caught.value.faults
        assert "the suite cannot be read" in str(fault)


@pytest.mark.parametrize("text", ["[]", "x", "3", "- a"])
def test_a_document_that_is_no_mapping_is_one_fault(folder, text):
    folder.write("suite.yaml", text)
    [fault] = folder.faults()
    assert "a suite is a mapping of keys and values" in fault


TARGET = "target: {kind: openai, models: [m], base_url: http://127.0.0.1:9}"


def test_a_suite_that_only_grades_may_leave_the_samples_to_the_records(folder):
    folder.suite(samples=False)
    assert folder.faults() == []
    folder.suite("max_samples: 3", samples=False)
    (fault,) = folder.faults()
    assert "max_samples: there are no samples to select from" in fault


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        (TARGET, "there are no samples; `dataset: FILE`, or `samples` inline"),
        ("dataset:", "there are no samples; `dataset: FILE`, or `samples` inline"),
        ("samples: ~", "samples: found nothing; a list of samples"),
        ("dataset: ~\nsamples:", "samples: found nothing; a list of samples"),
    ],
)
def test_a_suite_without_samples_is_one_fault(folder, samples, expected):
    folder.suite(samples, samples=False)
    [fault] = folder.faults()
    assert fault.endswith(expected)


def test_a_dataset_and_samples_together_are_one_fault(folder):
    folder.write("d.jsonl", '{"input": "x"}\n')
    folder.suite("dataset: d.jsonl")
    assert folder.faults() == [
        "suite.yaml:2:10: samples: `dataset` and `samples` are both given; one of the two"
    ]


def test_a_gate_may_be_on_what_records_tell_and_no_grader_has_such_a_name(folder):
    folder.suite("gates: [{metric: recorded.resolved, op: gte, value: 1}]")
    assert folder.faults() == []
    folder.suite("gates: [{weights: {recorded.reward: 1, g: 1}, op: gte, value: 1}]")
    assert folder.faults() == []
    folder.suite("graders: {recorded.mine: {kind: tool, function: contains}}", graders=False)
    (fault,) = folder.faults()
    assert 'a grader cannot be called "recorded.mine"' in fault


def test_samples_of_the_suite_may_have_all_the_graders(folder):
    own = "graders: {own: {kind: tool, function: contains}}"
    folder.suite(f"samples: [{{input: q, {own}}}]", samples=False, graders=False)
    assert folder.faults() == []
    folder.suite(f"samples: [{{input: q, {own}}}, {{input: r}}]", samples=False, graders=False)
    (fault,) = folder.faults()
    assert "there is no grader" in fault


def test_the_quarantine_file_beside_a_suite_belongs_to_it(tmp_path):
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        "name: s\nsamples: [{input: hi}]\ngraders: {g: {kind: tool, function: contains}}\n",
        encoding="utf-8",
    )
    assert load_suite(suite).quarantine == ()
    path = tmp_path / "quarantine.yaml"
    path.write_text(
        "quarantine: [{sample: a, since: 2031-05-04, ends: 2031-05-18}]", encoding="utf-8"
    )
    assert [entry.sample for entry in load_suite(suite).quarantine] == ["a"]
    path.write_text("quarantine: [{sample: a, since: 2031-05-04}]", encoding="utf-8")
    with pytest.raises(SuiteError, match='"ends" is missing'):
        load_suite(suite)
