import pytest

from harness.messages.completions import (
    ModelReply,
    as_request_message,
    read_completion,
    read_usage,
)
from harness.types.trajectories import Usage


def body(message, **fields):
    return {"choices": [{"message": message, "finish_reason": "stop"}], **fields}


def call(**fields):
    return {"id": "c1", "type": "function", "function": {"name": "a", "arguments": "{}"}, **fields}


def test_a_reply_has_its_message_and_its_numbers():
    usage = {"prompt_tokens": 3, "completion_tokens": 4}
    found = read_completion(body({"role": "assistant", "content": "x"}, model="m", usage=usage))
    assert found == ModelReply(
        message={"role": "assistant", "content": "x"},
        usage=Usage(input_tokens=3, output_tokens=4),
        model="m",
        stop_reason="stop",
    )


@pytest.mark.parametrize(
    ("message", "settled"),
    [
        ({}, {"content": None}),
        ({"content": ""}, {"content": ""}),
        ({"content": "x", "refusal": None, "annotations": []}, {"content": "x"}),
        ({"content": "x", "vendor": {"y": 1}}, {"content": "x", "vendor": {"y": 1}}),
        ({"content": "", "refusal": "No."}, {"content": None, "refusal": "No."}),
        ({"content": "", "tool_calls": [call(index=0)]}, {"content": None, "tool_calls": [call()]}),
        ({"content": "x", "tool_calls": None}, {"content": "x"}),
        (
            {"function_call": {"name": "a", "arguments": "{}"}},
            {"content": None, "tool_calls": [{k: v for k, v in call().items() if k != "id"}]},
        ),
    ],
)
def test_messages_are_settled_into_one_shape(message, settled):
    assert read_completion(body(message)).message == {"role": "assistant", **settled}


@pytest.mark.parametrize(
    ("arguments", "text"), [("{", "{"), ({"q": 1}, '{"q":1}'), (None, "{}"), ([1], "[1]")]
)
def test_arguments_go_back_as_text(arguments, text):
    made = {"id": "c1", "type": "function", "function": {"name": "a", "arguments": arguments}}
    message = as_request_message({"role": "assistant", "content": None, "tool_calls": [made]})
    assert message["tool_calls"][0]["function"]["arguments"] == text


@pytest.mark.parametrize(
    ("usage", "found"),
    [
        (None, Usage()),
        ("many", Usage()),
        ({}, Usage()),
        ({"input_tokens": 1, "output_tokens": 2}, Usage(input_tokens=1, output_tokens=2)),
        ({"prompt_tokens": -1, "completion_tokens": "5"}, Usage()),
        ({"prompt_tokens": True, "cost": "free"}, Usage()),
        ({"prompt_tokens": 0, "cost": 0.25}, Usage(input_tokens=0, cost_usd=0.25)),
    ],
)
def test_what_an_endpoint_does_not_tell_is_unknown(usage, found):
    assert read_usage(usage) == found


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        "x",
        {},
        {"choices": None},
        {"choices": []},
        {"choices": {"message": {}}},
        {"choices": [5]},
        {"choices": [{"message": None}]},
        {"choices": [{"text": "x"}]},
        {"choices": [{"message": {"tool_calls": 5}}]},
    ],
)
def test_what_is_no_reply_is_refused(wrong):
    with pytest.raises(ValueError, match=r".+"):
        read_completion(wrong)


@pytest.mark.parametrize(
    "value", ["5", True, 5.0, 1e308, -1, None, [], {}, 10**400, 10**15, float("nan")]
)
def test_senseless_tokens_are_unknown(value):
    assert read_usage({"prompt_tokens": value, "completion_tokens": 3}) == Usage(output_tokens=3)


@pytest.mark.parametrize(
    "value",
    ["5", True, 1e308, -0.5, None, [], 10**400, -(10**400), float("nan"), float("inf"), 2e6],
)
def test_a_senseless_cost_is_unknown(value):
    assert read_usage({"prompt_tokens": 2, "cost": value}) == Usage(input_tokens=2)
