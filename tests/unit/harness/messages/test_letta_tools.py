import pytest

from harness.messages.letta_tools import read_letta_calls, read_letta_returns
from harness.types.events import SystemEvent, ToolCall, ToolResult

A = {"name": "find", "arguments": '{"q": 1}', "tool_call_id": "c1"}
B = {"name": "send", "arguments": "{}", "tool_call_id": "c2"}


def calls(**message):
    return [(event.call_id, event.name, event.arguments) for event in read_letta_calls(message, {})]


@pytest.mark.parametrize(
    "message",
    [
        {"tool_call": A},
        {"tool_call": A, "tool_calls": None},
        {"tool_call": A, "tool_calls": []},
        {"tool_call": B, "tool_calls": [A]},
        {"tool_calls": A},
    ],
)
def test_the_list_of_calls_counts_before_the_single_one(message):
    assert calls(**message) == [("c1", "find", {"q": 1})]


def test_all_parallel_calls_are_read():
    assert [name for _, name, _ in calls(tool_call=A, tool_calls=[A, B])] == ["find", "send"]


def test_a_message_may_have_no_call():
    assert calls(tool_call=None) == []


@pytest.mark.parametrize(
    ("sent", "value", "text"),
    [
        ('{"q": ', '{"q": ', '{"q": '),
        ('"{\\"q\\": 1}"', {"q": 1}, '"{\\"q\\": 1}"'),
        ("", {}, ""),
        (None, {}, None),
        ({"q": 1}, {"q": 1}, None),
    ],
)
def test_arguments_are_read_as_those_of_any_call(sent, value, text):
    (call,) = read_letta_calls({"tool_call": {**A, "arguments": sent}}, {})
    assert call == ToolCall(call_id="c1", name="find", arguments=value, arguments_text=text)


@pytest.mark.parametrize("name", [None, ""])
def test_a_call_without_a_name_is_a_system_event(name):
    call = {**A, "name": name}
    assert list(read_letta_calls({"tool_call": call}, {})) == [
        SystemEvent(kind="unnamed_call", data=call)
    ]


def returned(text="ok", **fields):
    found = {"tool_return": text, "status": "success", "tool_call_id": "c1", **fields}
    (result,) = read_letta_returns({"tool_returns": [found]}, {})
    return result


def test_one_message_answers_several_calls():
    entries = [{"tool_return": n, "status": s, "tool_call_id": n}
               for n, s in (("c1", "success"), ("c2", "error"))]  # fmt: skip
    found = list(read_letta_returns({**entries[0], "tool_returns": entries}, {}))
    assert found == [
        ToolResult(call_id="c1", name=None, output="c1"),
        ToolResult(call_id="c2", name=None, output="c2", ok=False),
    ]


@pytest.mark.parametrize("listed", [{}, {"tool_returns": None}, {"tool_returns": []}])
def test_without_a_list_of_results_the_message_is_the_result(listed):
    message = {"tool_return": "a", "status": "error", "tool_call_id": "c1", "stderr": ["no"]}
    assert list(read_letta_returns({**message, **listed}, {})) == [
        ToolResult(
            call_id="c1", name=None, output="a", ok=False,
            structured={"stdout": [], "stderr": ["no"]},
        )
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "is_err", "ok"),
    [
        ("success", None, True),
        ("error", None, False),
        ("else", None, False),
        (None, True, False),
        (None, None, True),
    ],
)
def test_a_result_is_good_by_its_status(status, is_err, ok):
    assert returned(status=status, is_err=is_err).ok is ok


@pytest.mark.parametrize(
    ("stdout", "stderr", "structured"),
    [
        (None, None, None),
        ([], [], None),
        (["a\n"], [], {"stdout": ["a\n"], "stderr": []}),
        (None, ["Traceback\n"], {"stdout": [], "stderr": ["Traceback\n"]}),
        ("a", "", {"stdout": ["a"], "stderr": []}),
    ],
)
def test_what_a_tool_printed_is_kept_apart(stdout, stderr, structured):
    result = returned("out", stdout=stdout, stderr=stderr)
    assert (result.output, result.structured) == ("out", structured)


@pytest.mark.parametrize(
    ("value", "output", "structured"),
    [
        (None, "", None),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb", None),
        ({"a": 1}, '{"a":1}', {"content": {"a": 1}}),
        ([{"type": "text", "text": "a"}, {"type": "image", "url": "x"}], "a",
         {"content": [{"type": "text", "text": "a"}, {"type": "image", "url": "x"}]}),
    ],
)  # fmt: skip
def test_a_return_of_parts_gives_their_text(value, output, structured):
    result = returned(value)
    assert (result.output, result.structured) == (output, structured)
