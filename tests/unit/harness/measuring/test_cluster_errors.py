"""Estimates over samples that hang together."""

import pytest

from harness.measuring.cluster_errors import cluster_error, cluster_mean, cluster_pass_rate
from harness.measuring.pass_rates import pass_rate


def test_one_cluster_has_no_interval():
    assert cluster_mean([0.0, 1.0], ["a", "a"]).low is None
    assert cluster_pass_rate([0.0, 1.0], ["a", "a"], trials=2).low is None


def test_no_sample_has_no_number():
    assert cluster_mean([], []).mean is None
    assert cluster_pass_rate([], [], trials=0).value is None


def test_samples_alone_in_their_clusters_are_samples():
    means = [0.0, 0.5, 1.0, 1.0]
    alone = cluster_pass_rate(means, range(4), trials=8)
    by_sample = pass_rate({(0, 2): 1, (1, 2): 1, (2, 2): 2})
    assert (alone.low, alone.high) == pytest.approx((by_sample.low, by_sample.high))


def test_samples_that_move_together_say_less():
    means, clusters = [1.0] * 10 + [0.0] * 10, [n // 5 for n in range(20)]
    together, alone = (cluster_pass_rate(means, by, trials=20) for by in (clusters, range(20)))
    assert together.low < alone.low
    assert together.high > alone.high
    assert cluster_error(means, clusters) > cluster_error(means, list(range(20)))


def test_equal_values_show_no_spread():
    assert cluster_mean([1.0] * 4, [0, 0, 1, 1]).low is None
    assert cluster_pass_rate([1.0] * 4, [0, 0, 1, 1], trials=4).low < 1
