from itertools import product

import pytest

from harness.measuring.flip_forecasts import TwoNights, chance_of_worse, flip_forecast


@pytest.mark.parametrize(("before", "tonight"), [(1, 1), (3, 3), (2, 3), (5, 1)])
@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_the_chance_of_worse_is_that_of_all_outcomes_counted(rate, before, tonight):
    counted = 0.0
    for trials in product([0, 1], repeat=before + tonight):
        passes = sum(trials)
        chance = rate**passes * (1 - rate) ** (len(trials) - passes)
        if sum(trials[before:]) * before < sum(trials[:before]) * tonight:
            counted += chance
    assert chance_of_worse(rate, before, tonight) == pytest.approx(counted)


def test_ten_coins_among_ninety_steady_samples_flip_so_often():
    steady = [TwoNights((1, 1), (1, 1), 99, 100)] * 90
    coins = [TwoNights((1, 1), (0, 1), 50, 100)] * 8 + [TwoNights((0, 1), (1, 1), 50, 100)] * 2
    found = flip_forecast([*steady, *coins])
    assert found.fell == 8
    assert found.samples == 100
    assert found.expected == pytest.approx(3.391)
    assert found.chance == pytest.approx(0.012, abs=0.0005)


def test_samples_that_are_new_or_did_not_run_are_left_out():
    new = TwoNights((1, 1), (0, 1), 2, 2)
    absent = TwoNights((1, 1), (0, 0), 9, 9)
    assert flip_forecast([new, absent]) is None
    assert flip_forecast([new, TwoNights((1, 1), (0, 1), 9, 10)]).samples == 1
