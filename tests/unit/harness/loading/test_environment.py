import pytest

from harness.documents.findings import BadReference
from harness.documents.nodes import Location, from_python
from harness.documents.shapes import free_value
from harness.loading.environment import expand, expand_node

ENVIRON = {"A": "one", "EMPTY": "", "NESTED": "${A}", "N": "5"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x${A}y", "xoney"),
        ("${A}${A}", "oneone"),
        ("${B:-two}", "two"),
        ("${B:-}", ""),
        ("${A:-two}", "one"),
        ("${EMPTY:-two}", "two"),
        ("${EMPTY}", ""),
        ("$${A}", "${A}"),
        ("$$${A}", "$${A}"),
        ("${NESTED}", "${A}"),
        ("$A and $5", "$A and $5"),
        ("{A}", "{A}"),
    ],
)
def test_names_are_filled_in(text, value):
    assert expand(text, ENVIRON) == value


@pytest.mark.parametrize("text", ["${B}", "${", "${}", "${A", "${1}", "${A-x}", "${a.b}"])
def test_what_cannot_be_filled_in_is_refused(text):
    with pytest.raises(BadReference):
        expand(text, ENVIRON)


def test_values_are_filled_in_everywhere_but_in_prose():
    location = Location(from_python({"a": ["${A}", {"b": "${N}"}], "prose": "${A}"}))
    node, problems = expand_node(location, ENVIRON, verbatim=["prose"])
    assert free_value(node) == {"a": ["one", {"b": "5"}], "prose": "${A}"}
    assert problems == []


def test_every_variable_that_is_unset_is_named_with_its_place():
    location = Location(from_python({"a": ["${X}"], "b": "${Y}"}), "target")
    _, problems = expand_node(location, ENVIRON)
    assert [(at.path, problem.problem) for at, problem in problems] == [
        ("target.a[0]", "the environment variable X is not set"),
        ("target.b", "the environment variable Y is not set"),
    ]
