"""Texts made safe for storing and for showing."""

import pytest

from harness.system.texts import cut, error_line, harmless, one_line, scrub


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


def test_a_text_is_cut_with_an_ellipsis():
    assert cut("abcdef", 4) == "abc…"
    assert cut("abcd", 4) == "abcd"


def test_any_exception_is_described_in_one_line():
    class BrokenError(Exception):
        def __str__(self):
            raise RuntimeError

    assert error_line(ValueError("no")) == "ValueError: no"
    assert error_line(KeyError()) == "KeyError"
    assert error_line(BrokenError()) == "BrokenError: (its message cannot be shown)"
