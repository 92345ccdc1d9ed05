import json

import pytest

from harness.serving.model_requests import ApiError, parse_body, read_request

USER = {"role": "user", "content": "hi"}


def request(**fields):
    return read_request({"model": "scripted/a", "messages": [USER], **fields})


def test_a_model_has_the_same_name_with_and_without_its_prefix():
    assert request().name == request(model="a").name == "a"
    assert request().key == request(model="a").key


def test_the_key_depends_on_model_seed_and_conversation_alone():
    keys = [
        request().key,
        request(model="b").key,
        request(seed=1).key,
        request(messages=[{"role": "user", "content": "ho"}]).key,
    ]
    assert len(set(keys)) == 4
    assert request(stream=True, temperature=1, tools=[], user="x").key == keys[0]
    assert (
        request(messages=[{"content": [{"type": "text", "text": "hi"}], "role": "user"}]).key
        == (keys[0])
    )


@pytest.mark.parametrize(
    ("roles", "turns", "replies"),
    [
        ("user", 1, 0),
        ("system user", 1, 0),
        ("user assistant", 1, 1),
        ("user assistant tool assistant", 1, 2),
        ("user assistant user", 2, 0),
        ("assistant user", 1, 0),
        ("system", 1, 0),
        ("user assistant user assistant tool", 2, 1),
    ],
)
def test_turns_and_replies_are_counted(roles, turns, replies):
    asked = request(messages=[{"role": role, "content": "x"} for role in roles.split()])
    assert (len(asked.turns), asked.replies) == (turns, replies)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model": None}, "malformed: Expected `str`, got `null` - at `$.model`"),
        ({"messages": "hi"}, "at `$.messages`"),
        ({"messages": []}, "no messages"),
        ({"messages": ["hi"]}, "at `$.messages[0]`"),
        ({"messages": [{"role": "king", "content": "x"}]}, "message 0: role must be one of"),
        ({"messages": [USER, {"content": "x"}]}, "message 1: role must be one of"),
        ({"messages": [{"role": "user", "content": 3}]}, "message 0: content must be a text"),
        ({"seed": "x"}, "at `$.seed`"),
        ({"seed": 1.5}, "at `$.seed`"),
        ({"n": 2}, "at `$.n`"),
        ({"stream": "yes"}, "at `$.stream`"),
        ({"stream_options": []}, "at `$.stream_options`"),
        ({"tools": {}}, "at `$.tools`"),
    ],
)
def test_a_malformed_request_is_refused_with_the_place(fields, message):
    with pytest.raises(ApiError) as caught:
        request(**fields)
    assert caught.value.status == 400
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b'"x"',
        b"\xff\xfe",
        b'{"a": NaN}',
        b'{"a": ' + b"[" * 100_000,
        b'{"a": ' + b"9" * 10_000 + b"}",
    ],
)
def test_a_body_that_is_no_json_object_is_refused(raw):
    with pytest.raises(ApiError, match="The body is not"):
        parse_body(raw)


def test_lone_surrogates_become_replacement_characters():
    assert parse_body(rb'{"\ud800": ["\udfffx"]}') == {"\ufffd": ["\ufffdx"]}


def test_deeply_nested_arguments_do_not_crash():
    deep = '{"a":' * 5_000 + "1" + "}" * 5_000
    call = {"id": "c", "type": "function", "function": {"name": "t", "arguments": deep}}
    messages = [USER, {"role": "assistant", "content": None, "tool_calls": [call]}]
    assert request(messages=messages).replies == 1


def test_tokens_grow_with_the_messages():
    longer = [{"role": "user", "content": "hi" * 400}]
    grown = request(messages=longer).prompt_tokens - request().prompt_tokens
    assert grown in {199, 200}
    assert request().prompt_tokens == len(json.dumps([USER])) // 4 + 1
