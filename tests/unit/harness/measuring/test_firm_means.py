"""Means whose ends hold for gates."""

import pytest

from harness.measuring.firm_means import firm_mean
from harness.measuring.intervals import mean, wilson


@pytest.mark.parametrize("count", [1, 2, 10])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_passes_alone_or_failures_alone_have_wilsons_interval(value, count):
    found = firm_mean([value] * count)
    assert (found.low, found.high) == pytest.approx(wilson(value, count))


def test_no_value_has_no_mean():
    assert firm_mean([]).value is None


def test_values_without_outliers_have_the_t_interval():
    values = [0.4, 0.5, 0.6, 0.7] * 10
    found, t = firm_mean(values), mean(values)
    assert (found.low, found.high) == pytest.approx((t.low, t.high))


def test_no_better_values_have_a_lower_low_end():
    perfect, slip = firm_mean([1.0] * 20), firm_mean([1.0] * 19 + [0.9])
    assert slip.low == perfect.low < mean([1.0] * 19 + [0.9]).low
