"""Texts made safe for storing and for showing."""

import math

import pytest

from harness.system.texts import compact_json, harmless, one_line, scrub, scrub_json


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("a\u202eb", "a\\u202eb"),
        ("nul\x00", "nul\\x00"),
        ("\x9b31m", "\\x9b31m"),
        ("back\x08", "back\\x08"),
        ("line\nfeed\ttab", "line\nfeed\ttab"),
        ("over\rwritten", "over\\rwritten"),
        ("lone \ud83d", "lone \\ud83d"),
        ("é 日本 🙂", "é 日本 🙂"),
    ],
)
def test_nothing_shown_can_control_a_terminal(text, safe):
    assert harmless(text) == safe


def test_one_line_is_one_line_and_says_that_it_was_cut():
    assert one_line("a\nb\tc") == "a\\nb\\tc"
    assert one_line("abcdef", 4) == "abc…"
    assert one_line("abcd", 4) == "abcd"


@pytest.mark.parametrize(
    ("text", "whole"),
    [("a\ud800b", "a\ufffdb"), ("\ud83d\ude42", "🙂"), ("ok", "ok"), ("é", "é")],
)
def test_lone_surrogates_become_the_replacement_character(text, whole):
    assert scrub(text) == whole


def test_surrogates_are_replaced_in_every_place_of_a_value():
    assert scrub_json({"\ud800": ["\udc00", {"k": 1}]}) == {"\ufffd": ["\ufffd", {"k": 1}]}


def test_compact_json_has_no_spaces_and_keeps_letters():
    assert compact_json({"a": [1, "é"], "b": None}) == '{"a":[1,"é"],"b":null}'


@pytest.mark.parametrize("value", [math.nan, [math.inf], {"k": -math.inf}, object(), "\ud800"])
def test_what_json_cannot_hold_is_refused(value):
    with pytest.raises(ValueError, match="no JSON"):
        compact_json(value)
