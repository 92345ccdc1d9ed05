"""Numbers and counts, as people read them."""

import pytest

from harness.system.shown_numbers import counted, counted_of, plain_number, with_unit


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0 samples"), (1, "1 sample"), (2, "2 samples"), (1234, "1,234 samples")],
)
def test_what_is_not_one_is_in_the_plural(number, shown):
    assert counted(number, "sample") == shown


@pytest.mark.parametrize(
    ("number", "of", "shown"),
    [(1, 1, "1 of 1 sample"), (1, 3, "1 of 3 samples"), (0, 1, "0 of 1 sample")],
)
def test_the_noun_follows_what_there_is_in_all(number, of, shown):
    assert counted_of(number, of, "sample") == shown


@pytest.mark.parametrize(
    ("value", "shown", "signed"),
    [
        (0.0, "0", "+0"),
        (-0.0, "0", "+0"),
        (-4e-16, "0", "+0"),
        (1e-7, "0.0000001", "+0.0000001"),
        (-2.7723e-05, "-0.00002772", "-0.00002772"),
        (0.25, "0.25", "+0.25"),
        (1, "1", "+1"),
        (100, "100", "+100"),
        (999.96, "1,000", "+1,000"),
        (12345.6, "12,346", "+12,346"),
        (1e15, "1,000,000,000,000,000", "+1,000,000,000,000,000"),
    ],
)
def test_no_number_has_an_exponent_or_a_minus_before_a_zero(value, shown, signed):
    assert (plain_number(value), plain_number(value, sign="+")) == (shown, signed)


@pytest.mark.parametrize(
    ("number", "unit", "shown"),
    [
        ("1", "s", "1 s"),
        ("1", "USD", "1 USD"),
        ("1", "steps", "1 step"),
        ("-1", "calls", "-1 call"),
        ("1.5", "steps", "1.5 steps"),
        ("11", "tokens", "11 tokens"),
    ],
)
def test_a_unit_that_is_a_noun_is_singular_for_one(number, unit, shown):
    assert with_unit(number, unit) == shown
