"""Sums of independent whole numbers."""

import math

import pytest

from harness.measuring.binomials import binomial, poisson_binomial
from harness.measuring.lattice_sums import coin_flips, lattice, sum_of


def test_a_sum_of_nothing_is_0():
    assert sum_of([]).exactly(0) == 1.0
    assert binomial(0, 0.3).exactly(0) == 1.0


def test_chances_beyond_the_ends_are_0_and_1():
    dice = lattice(1, [1 / 6] * 6)
    assert (dice.at_most(0), dice.at_least(7), dice.exactly(9)) == (0.0, 0.0, 0.0)
    assert (dice.at_most(99), dice.at_least(-4)) == (pytest.approx(1), pytest.approx(1))


def test_two_dice_make_a_seven_one_time_in_six():
    both = sum_of([(lattice(1, [1 / 6] * 6), 2)])
    assert both.exactly(7) == pytest.approx(1 / 6)
    assert both.at_most(3) == pytest.approx(3 / 36)


def test_chances_far_out_keep_their_relative_accuracy():
    assert binomial(1000, 0.5).at_most(300) == pytest.approx(
        sum(math.comb(1000, k) for k in range(301)) / 2**1000, rel=1e-9
    )


def test_sums_that_spread_far_agree_with_the_normal_curve():
    many = sum_of([(coin_flips(7, 30_000), 1), (coin_flips(5, 40_000), 1)])
    deviation = math.sqrt(49 * 30_000 + 25 * 40_000)
    assert many.at_most(-round(deviation * 1.6449)) == pytest.approx(0.05, abs=2e-3)
    assert many.at_most(10**9) == pytest.approx(1, abs=1e-9)


def test_the_number_of_successes_is_that_of_unequal_tries():
    found = poisson_binomial({0.5: 1, 0.25: 1})
    assert [found.exactly(k) for k in range(3)] == pytest.approx([0.375, 0.5, 0.125])
