import pytest

from harness.loading.suite_files import load_suite

SIX = """\
name: six
dataset: samples.jsonl
epoch: 3
limits: {concurrency: many}
graders:
  a: {kind: tool, function: contans}
  b:
    type: assistant-contains-tool-output
    config: {tools: [x], pattern: "("}
  c: {kind: tool, function: 'g.py:grade'}
"""


def test_six_mistakes_are_six_lines_each_with_its_place_in_the_order_of_the_text(folder):
    folder.write("suite.yaml", SIX)
    folder.write("samples.jsonl", '{"id": "a", "input": "x"}\n\n{"id": "a", "input": "y"}\n')
    folder.write("g.py", "import not_installed_anywhere\n")
    found = folder.faults()
    assert [fault.split(": ")[0] for fault in found] == [
        "suite.yaml:3:1",
        "suite.yaml:4:23",
        "suite.yaml:6:29",
        "suite.yaml:9:35",
        "g.py:1",
        "samples.jsonl:3",
    ]
    assert found[-1] == (
        'samples.jsonl:3: id: duplicate id: the id "a"; the other is on line 1; '
        "ids are unique, whatever their type"
    )


def test_a_missing_dataset_hides_nothing_else(folder):
    folder.write("suite.yaml", SIX.replace("samples.jsonl", "sample.jsonl"))
    folder.write("samples.jsonl", '{"input": "x"}\n')
    folder.write("g.py", "import not_installed_anywhere\n")
    found = folder.faults()
    assert len(found) == 6
    assert found[0] == (
        'suite.yaml:2:10: dataset: there is no file "sample.jsonl"; did you mean "samples.jsonl"?'
    )


def test_what_the_graders_say_of_a_sample_stands_at_its_line(folder):
    folder.write("samples.jsonl", '{"input": "x", "ground_truth": "["}\n')
    folder.suite(
        "dataset: samples.jsonl\ngraders: [{type: regex_match}]", graders=False, samples=False
    )
    [fault] = folder.faults()
    assert fault.startswith("samples.jsonl:1: ground_truth: regex_match: ")


def test_a_suite_without_a_fault_has_none(folder):
    folder.suite()
    assert folder.faults() == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("target:", "suite.yaml:4:8: target: found nothing; a mapping with a `kind`"),
        ("gates:", "suite.yaml:4:7: gates: found nothing; a list of gates"),
        ("gates: [~]", "suite.yaml:4:9: gates[0]: found nothing; a mapping of options"),
        ("limits:", "suite.yaml:4:8: limits: found nothing; a mapping of options"),
        ("epochs: 2000000", "suite.yaml:4:9: epochs: found 2000000; at most 1,000,000"),
        ("retries: {attempts: 101}", "suite.yaml:4:21: retries.attempts: found 101; at most 100"),
        (
            "limits: {concurrency: 100000}",
            "suite.yaml:4:23: limits.concurrency: found 100000; at most 10,000",
        ),
        (
            "limits: {turn_seconds: 1e9}",
            "suite.yaml:4:24: limits.turn_seconds: found 1e9; at most 1,000,000",
        ),
        (
            "gates: [{metric: g, op: gte, value: 95}]",
            "suite.yaml:4:37: gates[0].value: found 95; at most 1",
        ),
    ],
)
def test_what_says_nothing_or_is_out_of_bounds_is_a_fault(folder, text, expected):
    folder.suite(text)
    assert folder.faults() == [expected]


def nested(levels):
    return "[" * levels + "]" * levels


@pytest.mark.parametrize("levels", [201, 700, 100_000])
@pytest.mark.parametrize("column", ["extra_vars", "v", "graders"])
def test_a_row_that_is_nested_too_deep_is_a_fault_of_its_row(folder, column, levels):
    row = f'{{"input": "x", "{column}": {{"n": {nested(levels)}}}}}\n'
    folder.write("d.jsonl", '{"input": "x"}\n' + row)
    cell = f'{{""n"": {nested(levels)}}}'
    folder.write("d.csv", f'input,extra_vars\nx,\nx,"{cell}"\n')
    for name, line in (("d.jsonl", 2), ("d.csv", 3)):
        folder.suite(f"dataset: {name}", samples=False)
        [fault] = folder.faults()
        assert fault.startswith(f"{name}:{line}:")
        assert "nested deeper than 200 levels" in fault


def test_graders_of_a_row_may_be_nested_as_deep_as_a_document(folder):
    folder.write("d.jsonl", f'{{"input": "x", "graders": {nested(150)}}}\n')
    folder.suite("dataset: d.jsonl", samples=False)
    [fault] = folder.faults()
    assert fault == "d.jsonl:1: graders: nested deeper than 100 levels"


def test_a_whole_number_without_a_float_is_a_fault_of_its_row(folder):
    grader = '{"g2": {"type": "contains", "weight": 1' + "0" * 400 + "}}"
    folder.write("d.jsonl", f'{{"input": "x", "graders": {grader}}}\n')
    folder.suite("dataset: d.jsonl", samples=False)
    [fault] = folder.faults()
    assert fault.startswith("d.jsonl:1: graders: a document cannot hold a whole number")


@pytest.mark.parametrize("entry", ['{"z": null}', "[null]", "{}", '{"z": {"type": null}}'])
def test_a_grader_of_a_row_without_a_body_is_a_fault(folder, entry):
    folder.write("d.jsonl", f'{{"input": "x", "graders": {entry}}}\n')
    folder.suite("dataset: d.jsonl", samples=False)
    [fault] = folder.faults()
    assert fault.startswith("d.jsonl:1: graders")


@pytest.mark.parametrize(
    ("asked", "files", "allowed"),
    [
        ("suite.yaml", ["a.yaml", "b.yml", "c.txt"], "the folder holds a.yaml, b.yml"),
        ("siute.yaml", ["suite.yaml", "other.yaml"], 'did you mean "suite.yaml"?'),
        ("suite.yaml", ["eval.YAML"], "the folder holds eval.YAML"),
        ("suite.yaml", ["c.txt"], None),
        ("nowhere/suite.yaml", ["a.yaml"], None),
    ],
)
def test_a_suite_that_is_not_there_names_those_that_are(folder, asked, files, allowed):
    for name in files:
        folder.write(name, "")
    [fault] = folder.faults(folder.path / asked)
    told = f"{asked}: the suite cannot be read: No such file or directory"
    assert fault.startswith(told)
    assert fault.endswith(allowed) if allowed else fault == told


OPENAI = "target: {kind: openai, models: [m]}"
LETTA = "target: {kind: letta, agent_id: a}"


@pytest.mark.parametrize(
    ("target", "variables", "missing"),
    [
        (OPENAI, {}, "OPENAI_API_KEY"),
        (OPENAI, {"OPENAI_API_KEY": "k"}, None),
        (OPENAI, {"OPENAI_BASE_URL": "http://127.0.0.1:9"}, None),
        (OPENAI, {"OPENAI_BASE_URL": "https://models.example"}, "OPENAI_API_KEY"),
        ("target: {kind: openai, models: [m], api_key_env: MINE}", {"OPENAI_API_KEY": "k"}, "MINE"),
        ("target: {kind: openai, models: [scripted/a, m], script: m.yaml}", {}, "OPENAI_API_KEY"),
        ("target: {kind: openai, models: [scripted/a], script: m.yaml}", {}, None),
        (LETTA, {}, "LETTA_API_KEY"),
        (LETTA, {"LETTA_API_KEY": "k"}, None),
        (LETTA, {"LETTA_BASE_URL": "http://letta.example:8283"}, None),
        (LETTA, {"LETTA_BASE_URL": "https://api.letta.com"}, "LETTA_API_KEY"),
        ("target: {kind: letta, agent_id: a, base_url: 'http://h:8283'}", {}, None),
        ("target: {kind: letta, agent_id: a, api_key: k}", {}, None),
        ("target: {kind: letta, agent_id: a, api_key_env: MINE}", {"LETTA_API_KEY": "k"}, "MINE"),
        ("target: {kind: letta_code, models: [m]}", {}, None),
        ("target: {kind: letta_code, models: [m], backend: server}", {}, "LETTA_API_KEY"),
        (
            (
                "target: {kind: letta_code, models: [openai-compatible/m], "
                "provider: {base_url: 'https://h.example', api_key_env: MINE}}"
            ),
            {},
            "MINE",
        ),
    ],
)
def test_a_key_that_a_run_needs_and_nobody_set_is_a_fault(
    folder, monkeypatch, target, variables, missing
):
    names = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LETTA_API_KEY", "LETTA_BASE_URL", "MINE")
    for name in names:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    folder.write("m.yaml", "models: {a: [{say: hello}]}\n")
    path = folder.suite(target)
    found = folder.faults()
    assert len(found) == (missing is not None)
    if missing:
        assert found[0].startswith("suite.yaml:4:")
        assert f"the environment variable {missing} is not set" in found[0]
    # Stored runs are graded without it.
    assert load_suite(path).warnings == ()
