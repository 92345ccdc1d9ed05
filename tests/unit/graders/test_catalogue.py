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
