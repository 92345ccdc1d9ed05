"""Shares and differences, as people read them."""

import pytest

from harness.system.shown_shares import percent, rounded_percent, signed_points


@pytest.mark.parametrize(
    ("share", "one_digit", "whole"),
    [
        (0.0, "0.0 %", "0 %"),
        (-0.0, "0.0 %", "0 %"),
        (1e-17, "0.0 %", "0 %"),
        (0.0004, "<0.1 %", "<1 %"),
        (0.0006, "0.1 %", "<1 %"),
        (0.006, "0.6 %", "1 %"),
        (0.5, "50.0 %", "50 %"),
        (0.994, "99.4 %", "99 %"),
        (0.996, "99.6 %", ">99 %"),
        (0.9996, ">99.9 %", ">99 %"),
        (1 - 1e-16, "100.0 %", "100 %"),
        (1.0, "100.0 %", "100 %"),
        (1 + 2e-16, "100.0 %", "100 %"),
    ],
)
def test_only_nothing_is_0_percent_and_only_all_is_100(share, one_digit, whole):
    assert (percent(share), rounded_percent(share)) == (one_digit, whole)


@pytest.mark.parametrize(
    ("difference", "shown"),
    [
        (0.0, "+0.0"),
        (-0.0, "+0.0"),
        (-1e-17, "+0.0"),
        (-0.0002, "-0.02"),
        (0.0002, "+0.02"),
        (-0.021, "-2.1"),
        (1.0, "+100.0"),
    ],
)
def test_no_difference_has_a_minus_before_a_zero(difference, shown):
    assert signed_points(difference) == shown
