import pytest
from fakes.factories import make_trajectory

from graders.tool_extractors import ToolArguments, ToolOutput
from harness.types.events import ToolCall, ToolResult, UserMessage
from harness.types.grades import Ref

ASKED = UserMessage(text="q")


def call(name, call_id=None, arguments=None):
    return ToolCall(call_id=call_id, name=name, arguments=arguments)


def result(output, name=None, call_id=None):
    return ToolResult(call_id=call_id, name=name, output=output)


def test_results_without_ids_belong_to_the_calls_of_their_turn_in_order():
    trajectory = make_trajectory(
        [ASKED, call("notes"), call("lookup"), result("n", "notes"), result("l", "lookup")]
    )
    submission = ToolOutput(tool_name="lookup").extract(trajectory)
    assert (submission.text, submission.refs) == ("l", (Ref(turn=0, event=4),))


def test_a_result_without_an_id_does_not_reach_back_over_a_turn():
    trajectory = make_trajectory([ASKED, call("lookup")], [ASKED, result("late")])
    assert ToolOutput(tool_name="lookup").extract(trajectory).text == ""


@pytest.mark.parametrize(
    "name", ["search_preview", "research", "mcp__search__delete", "search.delete", "Search"]
)
def test_other_tools_are_not_taken_for_the_named_one(name):
    trajectory = make_trajectory([ASKED, call(name, "c", {"n": 1}), result("x", name, "c")])
    assert ToolArguments(tool_name="search").extract(trajectory).text == "{}"
    assert ToolOutput(tool_name="search").extract(trajectory).text == ""


@pytest.mark.parametrize(
    "name",
    [
        "search",
        "mcp__docs__search",
        "mcp_docs_search",
        "docs.search",
        "docs-search",
        "functions.search",
        "docs/search",
        "search<|channel|>commentary",
    ],
)
def test_every_spelling_of_a_tool_can_be_named_as_an_alias(name):
    trajectory = make_trajectory([ASKED, call(name, "c", {"n": 1}), result("x", name, "c")])
    extractor = ToolOutput(tool_name="another", aliases=(name,))
    assert extractor.extract(trajectory).text == "x"


def test_arguments_that_came_as_an_object_are_given_as_compact_json():
    trajectory = make_trajectory([ASKED, call("lookup", "c", {"q": ["é", 1]})])
    assert ToolArguments(tool_name="lookup").extract(trajectory).text == '{"q":["é",1]}'
