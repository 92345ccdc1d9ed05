import json

import pytest
from fakes.factories import DATA

from harness.messages.outputs import Output, read_output

IMAGE = {"type": "image_url", "image_url": {"url": "data:..."}}


def text(*texts):
    return [{"type": "text", "text": text} for text in texts]


@pytest.mark.parametrize(
    ("content", "output", "structured"),
    [
        ("plain", "plain", None),
        ('{"a": 1}', '{"a": 1}', None),
        ("", "", None),
        (None, "", None),
        ([], "", None),
        (text("a", "b"), "a\nb", None),
        ([*text("a"), "b"], "a\nb", None),
        ([*text("a"), IMAGE, *text("b")], "a\nb", [*text("a"), IMAGE, *text("b")]),
        ([IMAGE], "", [IMAGE]),
        ([{"type": "text", "text": None}], "", [{"type": "text", "text": None}]),
        ([{"type": "input_text", "text": "a"}], "a", None),
        ({"a": [1, "é"]}, '{"a":[1,"é"]}', {"a": [1, "é"]}),
        ([1, 2], "[1,2]", [1, 2]),
        (["a", "b"], '["a","b"]', ["a", "b"]),
        ([{"depot": "D-4"}], '[{"depot":"D-4"}]', [{"depot": "D-4"}]),
        (True, "true", True),
        (1.5, "1.5", 1.5),
        ("head\x00tail\x1b[31m", "head\x00tail\x1b[31m", None),
        ("a\ud800", "a\ufffd", None),
    ],
)
def test_the_text_is_what_the_agent_saw(content, output, structured):
    assert read_output({"content": content}) == Output(output, structured=structured)


@pytest.mark.parametrize(
    ("flags", "ok"),
    [
        ({}, True),
        ({"error": True}, False),
        ({"is_error": True}, False),
        ({"isError": True}, False),
        ({"status": "error"}, False),
        ({"error": False, "is_error": None, "isError": False, "status": "success"}, True),
        ({"error": None}, True),
        ({"error": ""}, True),
        ({"error": {"code": 5}}, False),
    ],
)
def test_a_result_has_failed_where_its_message_says_so(flags, ok):
    assert read_output({"content": "x", **flags}).ok is ok


def test_an_error_text_is_kept_beside_the_output_or_as_the_output():
    assert read_output({"content": None, "error": "gone"}) == Output("gone", ok=False)
    both = read_output({"content": "x", "error": "gone"})
    assert both == Output("x", ok=False, structured={"error": "gone", "content": None})


@pytest.mark.parametrize(
    ("name", "output", "ok"),
    [
        ("mcp_failed", "ledger not reachable", False),
        ("mcp_failed_without_text", "", False),
        ("mcp_structured", 'Two depots in range\n[{"depot":"D-4"},{"depot":"D-9"}]', True),
    ],
)
def test_a_structured_part_is_output_unless_the_call_failed(name, output, ok):
    result = json.loads((DATA / "messages" / f"{name}.json").read_text(encoding="utf-8"))
    found = read_output({"content": result})
    assert (found.text, found.ok) == (output, ok)
    assert found.structured == result["structuredContent"]


def test_a_structured_part_that_the_text_says_already_is_not_said_twice():
    told = {"content": text('{ "a": [1] }'), "structuredContent": {"a": [1]}}
    assert read_output({"content": told}).text == '{ "a": [1] }'
    inside = {"content": text('It is {"a":[1]}.'), "structuredContent": {"a": [1]}}
    assert read_output({"content": inside}).text == 'It is {"a":[1]}.'


def test_an_image_beside_a_structured_part_is_not_lost():
    told = {"content": [IMAGE], "structuredContent": {"a": 1}, "isError": False}
    found = read_output({"content": told})
    assert found.text == '{"a":1}'
    assert found.structured == told


@pytest.mark.parametrize("content", [float("nan"), [float("inf")], {"a": object()}])
def test_what_is_no_json_is_refused(content):
    with pytest.raises(ValueError, match="no JSON"):
        read_output({"content": content})
