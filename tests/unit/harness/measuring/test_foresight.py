import numpy as np
import pytest

from harness.measuring.foresight import churns_of, sight
from harness.measuring.power import mcnemar_power, verdict_chances


def test_one_epoch_of_few_samples_is_computed_exactly():
    found = sight(200, 1, churn=0.06, detect=0.05)
    # Of 200 samples 24 pass half the time; these improve less often, too, where they pass less.
    regress, improve = 0.03 + 0.05 * 0.94, 0.03 - 0.05 * 0.06
    assert found.chance == pytest.approx(mcnemar_power(200, regress=regress, improve=improve))
    assert [of.drop for of in found.verdicts] == [0.0, 0.05, 0.1]
    exact = verdict_chances(200, margin=0.05, drop=0.05, improve=improve)
    assert found.verdicts[1].regressed == pytest.approx(exact.regressed)
    assert found.verdicts[1].regressed == pytest.approx(found.chance)
    assert found.verdicts[1].no_worse == pytest.approx(exact.no_worse)


def test_the_samples_needed_see_the_drop_in_four_cases_of_five():
    found = sight(50, 1, churn=0.06, detect=0.05)
    needed = found.samples_needed
    assert sight(needed, 1, churn=0.06, detect=0.05).chance >= 0.8
    assert sight(needed - 20, 1, churn=0.06, detect=0.05).chance < 0.8


def test_several_epochs_see_smaller_drops():
    seen = [sight(100, epochs, churn=0.1, detect=0.05).detectable for epochs in (2, 3, 5, 9)]
    assert seen == sorted(seen, reverse=True)
    assert len(set(seen)) == 4


def test_where_one_epoch_is_enough_no_more_are_needed():
    assert sight(2000, 1, churn=0.02, detect=0.05).epochs_needed == 1


def test_few_samples_see_nothing():
    found = sight(3, 1, churn=0.0, detect=0.05)
    assert (found.detectable, found.chance) == (None, 0.0)
    assert sight(3, 2, churn=1.0, detect=0.05).detectable is None


def test_churn_is_measured_where_samples_are_repeated():
    assert churns_of([(3, 3), (1, 2), (0, 1)]) == ((pytest.approx(0.5), "measured"),)


@pytest.mark.parametrize(
    ("samples", "bound"),
    [
        ([(2, 2)] * 60, 1 - 0.05 ** (1 / 60)),
        ([(0, 2)] * 30 + [(3, 3)] * 30, 1 - 0.05 ** (1 / 60)),
        ([(4, 4)] * 30, 1 - 0.05 ** (1 / 60)),
        ([(2, 2)], 0.5),
    ],
)
def test_where_no_repeated_sample_disagrees_so_many_at_most_may(samples, bound):
    assert churns_of(samples) == ((0.0, "measured"), (pytest.approx(bound), "at_most"))


@pytest.mark.parametrize(
    ("passes", "trials", "rate"),
    [(60, 60, 0.05 ** (1 / 60)), (0, 60, 1 - 0.05 ** (1 / 60)), (1, 1, 0.5), (30, 60, 0.5)],
)
def test_of_single_trials_the_most_that_churn_can_be_is_known(passes, trials, rate):
    samples = [(1, 1)] * passes + [(0, 1)] * (trials - passes) + [(0, 0)]
    assert churns_of(samples) == ((pytest.approx(2 * rate * (1 - rate)), "at_most"),)


def test_the_most_that_churn_can_be_is_seldom_too_little():
    rng = np.random.default_rng(3)
    rates = np.array([0.97] * 50)
    bounds = [churns_of([(int(one), 1) for one in rng.binomial(1, rates)]) for _ in range(500)]
    assert sum(bound >= 2 * 0.97 * 0.03 for ((bound, _),) in bounds) >= 0.94 * 500


def test_of_no_trial_nothing_is_known():
    assert churns_of([]) == ()
    assert churns_of([(0, 0)]) == ()
