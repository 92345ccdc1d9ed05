"""Graders that are known elsewhere and not run here, and options that hold any JSON."""

import pytest

from harness.loading.refused_graders import REFUSED_GRADERS
from harness.types.errors import SuiteError
from harness.types.suites import Suite


def graders_of(entry):
    samples = [{"id": "s1", "input": "q"}]
    return Suite.from_mapping({"name": "t", "samples": samples, "graders": {"it": entry}}).graders


@pytest.mark.parametrize("name", REFUSED_GRADERS)
def test_a_grader_of_a_workspace_and_a_foreign_judge_are_refused_by_their_names(name):
    with pytest.raises(SuiteError) as caught:
        graders_of({"type": name, "config": {"path": "*.py", "value": "x"}})
    (fault,) = caught.value.faults
    assert fault.path == "graders.it.type"
    assert f'"{name}" ' in fault.problem
    assert ("workspace" in fault.problem) != ("judge" in fault.problem)


def test_numbers_in_options_that_hold_json_are_numbers(tmp_path):
    text = (
        "name: t\nsamples: [{input: q}]\ngraders:\n"
        "  it: {type: state-equals, config: {fixture: db, expected: {total: 1.10, id: '1.10'}}}\n"
    )
    (tmp_path / "suite.yaml").write_text(text, encoding="utf-8")
    (spec,) = Suite.from_yaml(tmp_path / "suite.yaml").graders
    assert spec.grader.expected == {"total": 1.1, "id": "1.10"}


@pytest.mark.parametrize(
    ("entry", "path", "problem"),
    [
        ({"name": "a", "before_step": 2}, "[0]", "`before_step` is not supported"),
        ({"nam": "a"}, "[0].nam", 'unknown key "nam"'),
        (["a"], "[0]", "found a list"),
        ({"name": "a", "min_count": -1}, "[0].min_count", "found -1"),
    ],
)
def test_a_mistake_in_an_entry_is_one_fault_at_its_place(entry, path, problem):
    with pytest.raises(SuiteError) as caught:
        graders_of({"type": "tool-calls", "config": {"required": [entry]}})
    (fault,) = caught.value.faults
    assert fault.path == f"graders.it.config.required{path}"
    assert problem in fault.problem
