"""Flaky, regressed, fixed, new or stable."""

import pytest

from harness.measuring.flakiness import SampleNights, expected_flips, mean_of, standings


def state(passes, trials, tonight, trials_tonight=3):
    return standings([SampleNights("s", passes, trials, tonight, trials_tonight)])[0].state


@pytest.mark.parametrize(
    ("passes", "trials", "tonight", "expected"),
    [
        (30, 30, 3, "stable_pass"),
        (0, 30, 0, "stable_fail"),
        (29, 30, 0, "regressed"),
        (1, 30, 3, "fixed"),
        (15, 30, 0, "flaky"),
        (27, 30, 2, "flaky"),
        (4, 4, 0, "new"),
        (0, 0, 3, "new"),
    ],
)
def test_a_sample_stands_as_its_nights_say(passes, trials, tonight, expected):
    assert state(passes, trials, tonight) == expected


def test_one_failure_settles_nothing_among_many_samples():
    alone = SampleNights("one", 20, 20, 0, 1)
    steady = [SampleNights(str(n), 20, 20, 1, 1) for n in range(50)]
    assert standings([alone])[0].state == "regressed"
    assert standings([alone, *steady])[0].state == "flaky"


def test_a_sample_that_did_not_run_tonight_keeps_its_state():
    assert state(30, 30, 0, trials_tonight=0) == "stable_pass"
    assert state(15, 30, 0, trials_tonight=0) == "flaky"


def test_no_samples_have_no_standings():
    assert standings([]) == []


def test_a_new_sample_takes_no_part_in_the_adjustment():
    old = SampleNights("old", 20, 20, 0, 1)
    new = [SampleNights(str(n), 0, 0, 1, 1) for n in range(50)]
    assert standings([old, *new])[0].state == "regressed"


def test_a_single_trial_disagrees_with_nobody():
    found = standings([SampleNights("s", 0, 0, 1, 1)])[0]
    assert found.disagreement is None
    assert 0 < found.low < found.high < 1


def test_flips_that_nothing_made_are_expected():
    flips = expected_flips([0.99] * 90 + [0.5] * 10, both_ways=False)
    assert mean_of(flips) == pytest.approx(3.391)
    both = expected_flips([0.99] * 90 + [0.5] * 10, both_ways=True)
    assert mean_of(both) == pytest.approx(6.782)
    assert mean_of(expected_flips([], both_ways=True)) == 0
