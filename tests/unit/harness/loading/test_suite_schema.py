from pathlib import Path

import jsonschema
import pytest
import yaml

from harness.loading.suite_schema import suite_schema

SUITES = sorted(Path(__file__).parents[4].glob("suites/*/suite.yaml"))
HEAD = {"name": "s", "samples": [{"input": "x"}], "graders": {"g": {"type": "contains"}}}
ECHO = {"type": "assistant-contains-tool-output", "config": {"tools": ["a"], "pattern": "b"}}
PATTERN = {"extractor": "pattern", "extractor_config": {"pattern": "x"}}


@pytest.fixture(scope="module")
def validator():
    schema = suite_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_there_are_suites_to_check():
    assert SUITES


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.parent.name)
def test_the_suites_of_the_project_fit(validator, path):
    validator.validate(yaml.safe_load(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"graders": [{"type": "contains"}, ECHO]},
        {"graders": {"g": {"kind": "tool", "function": "contains", "turn": -1, "weight": 2}}},
        {"graders": {"g": {"kind": "tool", "function": "contains", **PATTERN}}},
        {"graders": {"g": {"kind": "tool", "function": "g.py:f", "extractor": "g.py:e"}}},
        {"graders": {"g": {"type": "g.py:f", "config": {"a": 1}, "isolation": "process"}}},
        {"target": {"kind": "python", "agent": "a.py:f", "models": ["m"]}},
        {"target": {"kind": "openai", "model": "m", "max_steps": "${STEPS}"}},
        {"epochs": 3, "limits": {"turn_seconds": None}, "scoring": {"weights": {"g": 1}}},
        {"gates": [{"metric": "g", "op": "gte", "value": 0.5}]},
        {"gates": [{"weights": {"g": 2}, "aggregation": "p95", "op": "lt", "value": 0.5}]},
        {"gates": [{"any": [{"all": [{"metric": "g", "op": "gte", "value": 0.5}]}]}]},
        {
            "slices": ["language", "tags"],
            "gates": [
                {"metric": "seconds", "aggregation": "p90", "op": "lte", "value": 30},
                {"metric": "g", "slice": {"language": "de", "n": 3}, "op": "gte", "value": 0.5},
                {
                    "metric": "g",
                    "aggregation": "pass^k",
                    "k": 2,
                    "interval": "low",
                    "op": "gte",
                    "value": 0.5,
                },
            ],
        },
        {"max_samples": 3, "sample_tags": ["a"]},
        {"samples": [{"sessions": [["x", "y"], "z"], "rubric": "Is it good?"}]},
        {"samples": [{"id": 7, "input": ["x"], "ground_truth": [1, "y"], "color": "red"}]},
    ],
)
def test_what_can_be_loaded_fits(validator, change):
    validator.validate(HEAD | change)


@pytest.mark.parametrize(
    "change",
    [
        {"epoch": 3},
        {"gates": [{"any": []}]},
        {"gates": [{"metric": "g", "weights": {"g": 1}, "op": "gte", "value": 0.5}]},
        {"epochs": 0},
        {"epochs": "3"},
        {"limits": {"concurency": 3}},
        {"graders": {}},
        {"graders": {"trial": {"type": "contains"}}},
        {"graders": {"g": {"type": "contans"}}},
        {"graders": {"g": {"type": "contains", "wieght": 1}}},
        {"graders": {"g": {"type": "contains", "config": {"a": 1}}}},
        {"graders": {"g": {"type": "contains", "function": "contains"}}},
        {"graders": {"g": {"kind": "rubric", "function": "contains"}}},
        {"graders": {"g": {"kind": "tool", "function": "assistant-contains-tool-output"}}},
        {"graders": {"g": {**ECHO, "extractor": "last_turn"}}},
        {"graders": {"g": {"type": "assistant-contains-tool-output"}}},
        {"graders": {"g": {**ECHO, "config": {"tools": ["a"]}}}},
        {"graders": {"g": {**ECHO, "config": {"tools": ["a"], "pattern": "b", "x": 1}}}},
        {"graders": {"g": {"type": "contains", "extractor": "patern"}}},
        {"graders": {"g": {"type": "contains", "extractor": "pattern"}}},
        {"graders": {"g": {"type": "contains", **PATTERN, "extractor_config": {"x": 1}}}},
        {"target": {"kind": "pyton", "agent": "a.py:f"}},
        {"target": {"kind": "python"}},
        {"target": {"kind": "python", "agent": "a.py:f", "agnt": 1}},
        {"target": {"kind": "python", "agent": "a.py:f", "model": "a", "models": ["b"]}},
        {"gates": [{"metric": "g", "op": ">", "value": 0.5}]},
        {"gates": [{"metric": "g", "interval": "lower", "op": "gte", "value": 0.5}]},
        {"gates": [{"metric": "g", "slice": {"a": ["b"]}, "op": "gte", "value": 0.5}]},
        {"gates": [{"weights": {"g": 1}, "op": "gte", "value": 2}]},
        {"slices": "language"},
        {"samples": [{"id": "a"}]},
        {"dataset": "d.jsonl"},
    ],
)
def test_what_cannot_be_loaded_does_not_fit(validator, change):
    assert list(validator.iter_errors(HEAD | change))


def test_every_option_of_the_suite_itself_is_described():
    properties = suite_schema()["properties"]
    assert [name for name, option in properties.items() if not option.get("description")] == []
