import dataclasses
import inspect

import pydantic
import pytest

from graders.catalogue import EXTRACTORS, GRADERS
from harness.types.taxonomy import Taxonomy

PLUGINS = {**GRADERS, **EXTRACTORS}


@pytest.mark.parametrize("name", PLUGINS)
def test_every_plugin_is_a_frozen_dataclass_whose_options_are_described(name):
    plugin = PLUGINS[name]
    assert plugin.__dataclass_params__.frozen
    assert len(inspect.getdoc(plugin)) > 60
    for option in dataclasses.fields(plugin):
        assert option.metadata["description"].endswith(".")


@pytest.mark.parametrize("name", GRADERS)
def test_every_grader_says_what_kind_of_check_it_is(name):
    assert isinstance(GRADERS[name].taxonomy, Taxonomy)
    assert GRADERS[name].reads in ("submission", "trajectory")


@pytest.mark.parametrize("name", PLUGINS)
def test_every_plugin_has_a_json_schema(name):
    assert pydantic.TypeAdapter(PLUGINS[name]).json_schema()["type"] == "object"


def test_options_are_read_from_what_yaml_gives():
    adapter = pydantic.TypeAdapter(GRADERS["assistant-contains-tool-output"])
    grader = adapter.validate_python({"tools": ["lookup"], "pattern": "x"})
    assert grader.tools == ("lookup",)
    with pytest.raises(pydantic.ValidationError, match="pattern"):
        adapter.validate_python({"tools": ["lookup"]})


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("no-invented-values", {"pattern": ""}),
        ("output-matches", {"pattern": ""}),
        ("output-not-matches", {"pattern": ""}),
        ("transcript-matches", {"pattern": ""}),
        ("transcript-not-matches", {"pattern": ""}),
        ("assistant-contains-tool-output", {"tools": ["find"], "pattern": ""}),
        ("pattern", {"pattern": ""}),
        ("tool-calls", {"required": [""]}),
        ("tool-calls", {"disallowed": [{"name": "find", "command": ""}]}),
        ("tool-calls", {"sequence": [{"name": "find", "args": {"id": ""}}]}),
        ("tool-success-rate", {"min": 0.5, "failure_pattern": ""}),
        ("tool-success-rate", {"min": 0.5, "tools": [""]}),
        ("tool-call-count", {"max": 1, "tools": [""]}),
        ("max-repeat", {"max": 1, "tools": [""]}),
        ("tool-arguments", {"tools": ["f"], "arguments": {"id": ""}, "compare": "matches"}),
        (
            "trajectory-match",
            {"calls": [{"name": "f", "arguments": {"id": ""}}], "arguments": "matches"},
        ),
    ],
)
def test_an_empty_pattern_is_found_before_a_run(name, options):
    plugin = pydantic.TypeAdapter(PLUGINS[name]).validate_python(options)
    ((_, problem),) = plugin.lint()
    assert problem == "is empty: it matches every text"
