import json

import pytest
from fakes.factories import DATA

from harness.messages.chunks import ReplyBuilder
from harness.messages.server_sent import EventData
from harness.types.trajectories import Usage


def build(*deltas, finish="stop"):
    builder = ReplyBuilder()
    for delta in deltas:
        builder.add({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    builder.add({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return builder.reply()


def piece(arguments=None, name=None, **place):
    function = {"name": name, "arguments": arguments}
    return {**place, "function": {k: v for k, v in function.items() if v is not None}}


def calls(reply):
    return [
        (made.get("id"), made["function"]["name"], made["function"]["arguments"])
        for made in reply.message.get("tool_calls", [])
    ]


A = ("c1", "find", '{"q": 1}')
B = ("c2", "send", '{"to": 2}')


@pytest.mark.parametrize(
    ("deltas", "expected"),
    [
        # as it should be
        ([[piece("", "find", index=0, id="c1")], [piece('{"q"', index=0)],
          [piece(": 1}", index=0)]], [A]),
        # ids: empty afterwards, or sent with each piece
        ([[piece("", "find", index=0, id="c1")], [piece('{"q": 1}', index=0, id="")]], [A]),
        ([[piece('{"q"', "find", index=0, id="c1")], [piece(": 1}", index=0, id="c1")]], [A]),
        # names: empty afterwards, or sent with each piece
        ([[piece("", "find", index=0, id="c1")], [piece('{"q": 1}', "", index=0)]], [A]),
        ([[piece('{"q"', "find", index=0, id="c1")], [piece(": 1}", "find", index=0, id="c1")]],
         [A]),
        # an index that begins at 1
        ([[piece('{"q": 1}', "find", index=1, id="c1")]], [A]),
        # two calls, interleaved
        ([[piece("", "find", index=0, id="c1"), piece("", "send", index=1, id="c2")],
          [piece('{"to"', index=1)], [piece('{"q"', index=0)],
          [piece(": 2}", index=1), piece(": 1}", index=0)]], [A, B]),
        # index 0 for every call
        ([[piece('{"q": 1}', "find", index=0, id="c1")],
          [piece('{"to": 2}', "send", index=0, id="c2")]], [A, B]),
        ([[piece('{"q": 1}', "find", index=0)], [piece('{"to": 2}', "send", index=0)]],
         [(None, *A[1:]), (None, *B[1:])]),
        # no index: by id, else the last call
        ([[piece('{"q"', "find", id="c1")], [piece('{"to": 2}', "send", id="c2")],
          [piece(": 1}", id="c1")]], [A, B]),
        ([[piece('{"q"', "find", id="c1")], [piece(": 1}")], [piece('{"to": 2}', "send", id="c2")]],
         [A, B]),
        ([[piece('{"q": 1}', "find")], [piece('{"to": 2}', "send")]],
         [(None, *A[1:]), (None, *B[1:])]),
        # the id comes later
        ([[piece("", "find", index=0)], [piece('{"q": 1}', index=0, id="c1")]], [A]),
        # arguments as an object, or never
        ([[piece({"q": 1}, "find", index=0, id="c1")]], [("c1", "find", {"q": 1})]),
        ([[piece("", "find", index=0, id="c1")]], [("c1", "find", "")]),
        ([[piece(None, "find", index=0, id="c1")]], [("c1", "find", "")]),
        # one object in the place of a list
        ([piece('{"q": 1}', "find", index=0, id="c1")], [A]),
    ],
)  # fmt: skip
def test_the_pieces_of_calls_are_put_together(deltas, expected):
    reply = build(*({"tool_calls": delta} for delta in deltas))
    assert calls(reply) == expected
    assert reply.message["content"] is None


@pytest.mark.parametrize(
    ("deltas", "content"),
    [
        ([{"role": "assistant", "content": ""}, {"content": "a"}, {"content": "b"}], "ab"),
        ([{"role": "assistant"}, {"role": "assistant", "content": "a"}], "a"),
        ([{"content": "a"}, {"content": None}, {"content": "b"}], "ab"),
        ([{"content": ""}], ""),
        ([{"content": None}], None),
        ([{}], None),
        ([{"content": [{"type": "text", "text": "a"}]}, {"content": "b"}], "ab"),
    ],
)
def test_the_pieces_of_a_text_are_put_together(deltas, content):
    assert build(*deltas).message["content"] == content


def test_thoughts_and_refusals_are_put_together():
    reply = build({"reasoning_content": "a"}, {"reasoning_content": "b"}, {"refusal": "N"},
                  {"refusal": "o"})  # fmt: skip
    assert reply.message["reasoning_content"] == "ab"
    assert reply.message["refusal"] == "No"


def test_blocks_that_are_no_text_stay_in_their_place():
    thinking = {"type": "thinking", "thinking": "hm"}
    reply = build({"content": [thinking]}, {"content": "a"}, {"content": "b"})
    assert reply.message["content"] == [thinking, {"type": "text", "text": "ab"}]


def test_the_old_shape_of_a_call_is_put_together():
    reply = build({"function_call": {"name": "find", "arguments": '{"q"'}},
                  {"function_call": {"arguments": ": 1}"}})  # fmt: skip
    assert calls(reply) == [(None, "find", '{"q": 1}')]


def test_the_input_of_a_custom_tool_is_put_together():
    first = {"index": 0, "id": "c1", "type": "custom", "custom": {"name": "sql", "input": "sel"}}
    reply = build(
        {"tool_calls": [first]}, {"tool_calls": [{"index": 0, "custom": {"input": "ect"}}]}
    )
    (made,) = reply.message["tool_calls"]
    assert made["custom"] == {"name": "sql", "input": "select"}


def test_fields_of_the_vendor_s_own_are_kept():
    reply = build(
        {"tool_calls": [{**piece("{}", "a", index=0, id="c"), "extra_content": {"s": 1}}]},
        {"reasoning_details": [{"a": 1}]},
        {"reasoning_details": [{"b": 2}]},
    )
    assert reply.message["tool_calls"][0]["extra_content"] == {"s": 1}
    assert reply.message["reasoning_details"] == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize(
    "last",
    [
        {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}},
        {"usage": {"prompt_tokens": 3, "completion_tokens": 4}},
        {"choices": [], "x_groq": {"usage": {"prompt_tokens": 3, "completion_tokens": 4}}},
        {"choices": [{"delta": {}, "usage": {"prompt_tokens": 3, "completion_tokens": 4}}]},
    ],
)
def test_the_usage_stands_where_endpoints_put_it(last):
    builder = ReplyBuilder()
    builder.add({"model": "m", "usage": None, "choices": [{"delta": {"content": "a"}}]})
    builder.add(last)
    builder.add({"choices": [], "usage": None})
    assert builder.reply().usage == Usage(input_tokens=3, output_tokens=4)
    assert builder.reply().model == "m"


def test_other_choices_are_not_mixed_in():
    builder = ReplyBuilder()
    for index in (1, 0, 2):
        builder.add({"choices": [{"index": index, "delta": {"content": f"{index}"}}]})
    assert builder.reply().message["content"] == "0"


@pytest.mark.parametrize(
    "wrong",
    [
        5,
        [1],
        "x",
        None,
        {"choices": [{"delta": {"content": 5}}]},
        {"choices": [{"delta": {"tool_calls": 5}}]},
        {"choices": [{"delta": {"tool_calls": [5]}}]},
    ],
)
def test_what_is_no_chunk_is_refused(wrong):
    with pytest.raises(ValueError, match=r"must be"):
        ReplyBuilder().add(wrong)


@pytest.mark.parametrize(
    ("name", "text", "made"),
    [
        ("cut_text.sse", "The balance is 12", []),
        ("cut_call.sse", None, [("c1", "refund", '{"amount": 5')]),
    ],
)
def test_a_stream_that_was_cut_has_begun_and_has_no_stop_reason(name, text, made):
    builder, events = ReplyBuilder(), EventData()
    data = (DATA / "messages" / name).read_bytes()
    for event in [*events.feed(data), *events.end()]:
        builder.add(json.loads(event))
    assert builder.begun
    assert builder.stop_reason is None
    assert builder.reply().message["content"] == text
    assert calls(builder.reply()) == made


def test_nothing_has_begun_before_there_is_anything():
    builder = ReplyBuilder()
    builder.add({"choices": [{"delta": {"role": "assistant", "content": ""}}]})
    assert not builder.begun


def test_a_hundred_thousand_pieces_are_put_together_at_once():
    deltas = [{"content": "x", "tool_calls": [piece("1", index=n % 1000)]} for n in range(100_000)]
    assert len(build(*deltas).message["content"]) == 100_000
