"""One-sided tests of two runs, at the edges of what they are given."""

import random

import pytest

from harness.measuring.paired_differences import spread_of
from harness.measuring.paired_outcomes import paired_passes
from harness.measuring.paired_tests import mcnemar, paired_t, sign_flip, stratified_exact


def scores(differences):
    return paired_passes([(0.0, 1)] * len(differences), [(x, 1) for x in differences])


def test_nothing_that_could_move_gives_1_on_both_sides():
    pairs = paired_passes([(3, 3), (0, 2)], [(3, 3), (0, 2)])
    for found in (stratified_exact(pairs), sign_flip(pairs), mcnemar(0, 0)):
        assert (found.regress, found.improve, found.two_sided) == (1.0, 1.0, 1.0)


def test_one_sample_that_falls_from_all_of_three_epochs_to_none_is_at_alpha():
    found = stratified_exact(paired_passes([(3, 3)], [(0, 3)]))
    assert found.regress == pytest.approx(0.05)
    assert found.least == pytest.approx(0.05)


@pytest.mark.parametrize(("changed", "least"), [(4, 0.0625), (5, 0.03125)])
def test_fewer_than_five_changed_samples_cannot_alarm_at_one_epoch(changed, least):
    assert mcnemar(changed, 0).least == pytest.approx(least)
    pairs = paired_passes([(1, 1)] * changed, [(0, 1)] * changed)
    assert stratified_exact(pairs).least == pytest.approx(least)
    assert sign_flip(pairs).least == pytest.approx(least)


def test_unequal_numbers_of_epochs_are_compared_as_shares():
    found = sign_flip(paired_passes([(1, 3), (1, 7)], [(2, 6), (2, 14)]))
    assert found.regress == 1.0


def test_scores_of_any_fineness_are_flipped_one_by_one_where_there_are_few():
    differences = [-0.123456789, 0.111111117, -0.3141592653, 0.0271828182]
    found = sign_flip(scores(differences))
    patterns = [
        sum(d if n >> place & 1 else -d for place, d in enumerate(map(abs, differences)))
        for n in range(16)
    ]
    seen = sum(differences)
    assert found.regress == pytest.approx(sum(p <= seen + 1e-12 for p in patterns) / 16)


def test_patterns_of_many_fine_scores_are_drawn_the_same_every_time():
    rng = random.Random(1)
    pairs = scores([rng.gauss(-0.02, 0.1) for _ in range(60)])
    found = sign_flip(pairs)
    assert found == sign_flip(pairs)
    assert found.regress == pytest.approx(paired_t(spread_of(pairs)).regress, abs=0.02)


def test_scores_that_are_equal_but_for_rounding_show_no_spread():
    spread = spread_of(paired_passes([(0.1 + 0.2, 1), (0.7, 1)], [(0.4, 1), (0.8, 1)]))
    assert spread.error == 0
    assert paired_t(spread) is None


def test_one_difference_has_no_t_test():
    assert paired_t(spread_of(scores([-0.5]))) is None
