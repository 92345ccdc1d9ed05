"""Estimates and their intervals; reference values by scipy and statsmodels."""

import pytest
from scipy.stats import t

from harness.measuring.intervals import (
    mean,
    quantile,
    t_quantile,
    wilson,
)


@pytest.mark.parametrize(
    ("passes", "trials", "low", "high"),
    [
        (0, 10, 0.0, 0.277532799863),
        (7, 10, 0.396778147461, 0.892208732594),
        (10, 10, 0.722467200137, 1.0),
        (45, 50, 0.786397685625, 0.956524235068),
    ],
)
def test_wilson_gives_the_reference_interval(passes, trials, low, high):
    assert wilson(passes / trials, trials) == pytest.approx((low, high), abs=1e-9)


def test_a_mean_has_the_t_interval_over_samples():
    score = mean([0.2, 0.4, 0.9, 0.6])
    assert score.mean == pytest.approx(0.525)
    assert (score.low, score.high) == pytest.approx((0.049850, 1.0), abs=1e-5)


@pytest.mark.parametrize("count", [2, 3, 7, 10, 49])
@pytest.mark.parametrize("value", [1 / 3, 0.1, 0.7])
def test_rounding_makes_no_spread_of_equal_values(count, value):
    assert mean([value] * count).low is None


@pytest.mark.parametrize("values", [[0.5], [0.5, 0.5, 0.5]])
def test_a_mean_without_spread_has_no_interval(values):
    score = mean(values)
    assert (score.mean, score.low, score.high) == (0.5, None, None)


def test_quantiles_are_interpolated():
    assert quantile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.5
    assert quantile([1.0], 0.9) == 1.0
    assert quantile([], 0.5) is None


@pytest.mark.parametrize("degrees", [1, 29, 99, 100, 101, 499, 10**6])
@pytest.mark.parametrize("share", [0.025, 0.5, 0.9, 0.95, 0.975, 0.99])
def test_t_quantiles_are_those_of_scipy_however_many_degrees(degrees, share):
    assert t_quantile(degrees, share) == pytest.approx(float(t.ppf(share, degrees)), abs=1e-8)
