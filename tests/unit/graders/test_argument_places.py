"""Matches in arguments, pointed at in every spelling in which calls are sent."""

import json

import pytest

from graders.argument_places import span_in_call
from harness.messages.chat import read_turns
from harness.system.json_values import compact_json


def pointed_at(sent, found, *, name="path", arguments=None):
    arguments = json.loads(sent) if arguments is None else arguments
    value = arguments if name is None else arguments[name]
    text = value if isinstance(value, str) else compact_json(value)
    at = text.index(found)
    span = span_in_call(sent, arguments, (at, at + len(found)), name)
    return sent[slice(*span)]


@pytest.mark.parametrize(
    ("sent", "found", "shown"),
    [
        ('{"note": "a.txt", "path": "a.txt"}', "a.txt", "a.txt"),
        ('{"path": "say \\"a\\" to b"}', '"a" to', '\\"a\\" to'),
        ('{"path": "caf\\u00e9s"}', "\u00e9", "\\u00e9"),
        ('{"path": "\\ud83d\\ude00 ok"}', "\U0001f600 o", "\\ud83d\\ude00 o"),
        ('{"path": "a\\/b\\\\c"}', "/b\\", "\\/b\\\\"),
        (' { "path" : [ "x" , "yz" ] } ', '"x","y', '"x" , "y'),
        ('{"path": {"a": "caf\\u00e9 bar"}}', "bar", "bar"),
        ('{"path": 12.50}', "12.5", "12.50"),
        ('{"path": null}', "null", "null"),
        ('{"path": "old", "path": "newer"}', "new", "new"),
        ('{"path": {"a": 1, "a": 2}}', "2", '{"a": 1, "a": 2}'),
    ],
)
def test_a_match_in_an_argument_is_pointed_at_as_it_was_sent(sent, found, shown):
    assert pointed_at(sent, found) == shown


def test_the_place_is_inside_of_the_argument_that_matched():
    sent = '{"note": "rm -rf b", "path": "rm -rf b"}'
    span = span_in_call(sent, json.loads(sent), (0, 8), "path")
    assert span == (30, 38)


def test_arguments_that_were_encoded_twice_are_pointed_at_inside():
    inner = '{"path": "a \\"b\\" c"}'
    shown = pointed_at(json.dumps(inner), 'b" c', arguments=json.loads(inner))
    assert shown == 'b\\\\\\" c'


@pytest.mark.parametrize(
    ("sent", "found", "shown"),
    [
        ('{"a":1,"b":2}', '1,"b', '1,"b'),
        ('{ "a": 1, "b": 2 }', '1,"b', '1, "b'),
        ('"just text"', "text", "text"),
    ],
)
def test_a_match_in_all_arguments_is_pointed_at(sent, found, shown):
    assert pointed_at(sent, found, name=None) == shown


def test_text_that_is_no_json_is_pointed_at_as_it_is():
    assert span_in_call('{"a": ', '{"a": ', (2, 3)) == (2, 3)


@pytest.mark.parametrize(
    ("sent", "name", "shown"),
    [('{"path": ""}', "path", '""'), ('{"path": "ab"}', "path", '"ab"')],
)
def test_a_match_of_no_characters_stands_for_the_argument(sent, name, shown):
    span = span_in_call(sent, json.loads(sent), (0, 0), name)
    assert sent[slice(*span)] == shown


def test_a_place_in_a_call_of_another_shape_cannot_be_told():
    assert span_in_call("[1]", {"path": "a"}, (0, 1), "path") is None
    assert span_in_call("{", {"path": "a"}, (0, 1), "path") is None


def test_calls_read_from_messages_are_pointed_at_in_what_was_sent():
    call = {"name": "t", "arguments": '{"q": "\\u00e9", "path": "\\u00e9x"}'}
    message = {"tool_calls": [{"id": "c", "type": "function", "function": call}]}
    (turn,) = read_turns([{"role": "assistant", "content": None, **message}])
    event = turn.events[0]
    span = span_in_call(event.arguments_text, event.arguments, (0, 2), "path")
    assert event.arguments_text[slice(*span)] == "\\u00e9x"
