"""How long a wait is, in words."""

import re

import pytest

from harness.system.clock import wait_text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.5, r"0\.5 s"),
        (59.0, "59 s"),
        (3600.0, r"3,600 s \(until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\)"),
        (1e300, "for ever"),
        (float("inf"), "for ever"),
    ],
)
def test_a_long_wait_says_when_it_ends(seconds, text):
    assert re.fullmatch(text, wait_text(seconds))
