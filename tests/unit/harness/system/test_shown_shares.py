"""Shares and differences, as people read them."""

import pytest

from harness.system.shown_shares import percent, probability, rounded_percent, signed_points


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
        (1e-8, "+0.000001"),
        (0.0002, "+0.02"),
        (-0.021, "-2.1"),
        (1.0, "+100.0"),
    ],
)
def test_no_difference_has_a_minus_before_a_zero(difference, shown):
    assert signed_points(difference) == shown


@pytest.mark.parametrize(
    ("chance", "shown"),
    [
        (0.0, "<0.001"),
        (0.0009, "<0.001"),
        (0.001, "0.001"),
        (0.0496, "0.0496"),
        (0.05, "0.05"),
        (0.05003, "0.05003"),
        (0.0506, "0.051"),
        (0.999, "0.999"),
        (0.9996, ">0.999"),
        (1 - 1e-16, "1.000"),
        (1.0, "1.000"),
    ],
)
def test_no_chance_is_shown_as_nothing_as_certain_or_as_significant_that_is_not(chance, shown):
    assert probability(chance) == shown
