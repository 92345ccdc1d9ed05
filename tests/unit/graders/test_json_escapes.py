"""Texts with the escapes of JSON in them, at any depth."""

import json

import pytest

from graders.json_escapes import readings


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("plain", "plain"),
        ('{"name": "Mal\\u00e9n"}', '{"name": "Mal\u00e9n"}'),
        ('log: {"a": "x\\/y"}', 'log: {"a": "x/y"}'),
        ("say \\u0022hi\\u0022", 'say "hi"'),
        ("\\ud83d\\ude00", "\U0001f600"),
        ("\\ud83d alone", "\ufffd alone"),
        ("one\\ntwo", "one\ntwo"),
        ("C:\\Users", "C:\\Users"),
        ("\\u12", "\\u12"),
    ],
)
def test_the_last_reading_is_without_escapes(text, last):
    found = list(readings(text))
    assert (found[0], found[-1]) == (text, last)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_json_inside_of_json_is_read_too(depth):
    text = 'caf\u00e9 "A/1"'
    for _ in range(depth):
        text = json.dumps(text)
    assert any('caf\u00e9 "A/1"' in one for one in readings(text))


def test_a_text_without_escapes_has_one_reading():
    assert list(readings('{"a": 1}')) == ['{"a": 1}']
