"""Sessions and histories of rows, and the agents that can take them."""

import pytest

from harness.loading.datasets import open_dataset
from harness.loading.suite_files import load_suite

PYTHON = 'target: {kind: python, agent: "a.py:answer"}'
LETTA = "target: {kind: letta, base_url: http://127.0.0.1:8283, agent_id: agent-1}"
TWO = '{"sessions": [["a", "b"], "c"]}'
BEGUN = '{"input": "b", "history": [{"role": "user", "content": "a"}]}'


@pytest.fixture
def faults(folder):
    """Give the faults of a suite with a target and one row."""

    def faults(target, row, *, inline=False):
        folder.write("a.py", "def answer(text):\n    return text\n")
        folder.write("d.jsonl", f"{row}\n")
        samples = f"samples: [{row}]" if inline else "dataset: d.jsonl"
        folder.suite(f"{target}\n{samples}", samples=False)
        return folder.faults()

    return faults


@pytest.mark.parametrize(
    ("inline", "place"), [(False, "d.jsonl:1: sessions"), (True, "samples[0].sessions")]
)
def test_sessions_need_an_agent_with_a_memory(faults, inline, place):
    (fault,) = faults(PYTHON, TWO, inline=inline)
    assert place in fault
    assert "agents of the kind python keep no memory between sessions" in fault


@pytest.mark.parametrize(("inline", "place"), [(False, "d.jsonl:1: "), (True, "samples[0].")])
@pytest.mark.parametrize("target", [LETTA, "target: {kind: letta_code, models: [m]}"])
def test_a_history_is_refused_for_agents_that_begin_with_nothing_said(
    faults, target, inline, place
):
    (fault,) = faults(target, BEGUN, inline=inline)
    assert f"{place}history: agents of the kind letta" in fault


@pytest.mark.parametrize("target", ["", PYTHON])
def test_a_history_is_given_to_all_other_agents(faults, target):
    assert faults(target, BEGUN) == []
    assert faults(target, BEGUN, inline=True) == []


@pytest.mark.parametrize(
    ("target", "row"), [(LETTA, TWO), ("", TWO), (PYTHON, '{"sessions": [["a", "b"]]}')]
)
def test_agents_with_a_memory_and_single_sessions_are_no_fault(faults, target, row):
    assert faults(target, row) == []
    assert faults(target, row, inline=True) == []


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ('{"input": "x", "sessions": [["a"]]}', "sessions: is given beside the input"),
        ('{"input": "x", "rubric": 3}', "rubric: found 3"),
        ('{"sessions": []}', "sessions: found a list; a list of sessions"),
    ],
)
def test_columns_of_usual_rows_are_checked_before_the_run(faults, row, fault):
    (found,) = faults("", row)
    assert fault in found


@pytest.mark.parametrize("empty", ['""', "[]", "null"])
def test_an_empty_input_leaves_the_word_to_the_prompt(folder, empty):
    folder.write("d.jsonl", f'{{"input": {empty}, "prompt": "x"}}\n')
    folder.suite("dataset: d.jsonl", samples=False)
    (sample,) = open_dataset(load_suite(folder.path / "suite.yaml")).samples()
    assert sample.input == "x"
