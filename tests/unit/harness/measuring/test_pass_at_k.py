"""pass@k and pass^k over samples."""

import pytest

from harness.measuring.pass_at_k import pass_at_k_over


def test_samples_with_too_few_trials_are_left_out_and_counted():
    found = pass_at_k_over([(3, 4), (1, 1), (4, 4)], 2)
    assert (found.samples, found.left_out) == (2, 1)
    assert found.all_of_them.mean == pytest.approx(0.75)
    assert found.at_least_one.mean == 1.0


def test_without_a_sample_of_enough_trials_there_is_no_number():
    found = pass_at_k_over([(1, 1)], 2)
    assert (found.at_least_one.mean, found.all_of_them.mean, found.left_out) == (None, None, 1)


def test_ends_are_cut_to_what_a_chance_can_be():
    found = pass_at_k_over([(4, 4), (3, 4), (2, 4), (4, 4), (0, 4)], 2).all_of_them
    assert found.mean == pytest.approx(0.5333333333)
    assert (found.low, found.high) == (0.0, 1.0)
