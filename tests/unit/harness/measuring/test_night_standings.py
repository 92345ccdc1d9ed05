import pytest

from harness.measuring.night_standings import night_standings
from harness.measuring.sample_changes import sample_changes


def stand(nights, accepted=0, others=0):
    samples = {"a": nights} | {f"s{n}": [(3, 0)] * len(nights) for n in range(others)}
    return night_standings(samples, sample_changes(samples), accepted)[0]


def nights(*parts):
    return [night for count, night in parts for _ in range(count)]


@pytest.mark.parametrize(
    ("of", "state", "since"),
    [
        pytest.param([(3, 0)] * 9, "stable_pass", None, id="always passes"),
        pytest.param([(0, 3)] * 9, "stable_fail", None, id="always fails"),
        pytest.param([(1, 2), (2, 1)] * 6, "flaky", None, id="passes half of the time"),
        pytest.param([(3, 0)], "new", None, id="ran once"),
        pytest.param(nights((12, (3, 0)), (1, (0, 3))), "regressed", 12, id="fails tonight"),
        pytest.param(nights((12, (3, 0)), (8, (0, 3))), "regressed", 12, id="fails for a week"),
        pytest.param(nights((12, (0, 3)), (8, (3, 0))), "fixed", 12, id="passes for a week"),
        pytest.param(
            nights((12, (3, 0)), (1, (0, 3)), (7, (1, 2))), "regressed", 12, id="fell, and varies"
        ),
    ],
)
def test_a_sample_stands_as_its_nights_say(of, state, since):
    found = stand(of)
    assert found.standing.state == state
    assert (found.change.night if found.change else None) == since


def test_a_change_that_the_baseline_has_is_taken_as_it_is():
    of = nights((12, (3, 0)), (8, (0, 3)))
    assert stand(of, accepted=12).standing.state == "stable_fail"
    assert stand(of, accepted=11).standing.state == "regressed"


def test_a_sample_that_passes_again_tonight_is_fixed():
    found = stand(nights((12, (3, 0)), (12, (0, 3)), (1, (3, 0))))
    assert found.standing.state == "fixed"
    assert found.standing.passes == 0


def test_a_mended_sample_is_judged_by_its_nights_since():
    found = stand(nights((12, (0, 3)), (8, (3, 0)), (1, (3, 0))))
    assert (found.standing.passes, found.standing.trials) == (24, 24)


@pytest.mark.parametrize(
    ("of", "state", "since"),
    [
        (nights((20, (1, 0)), (1, (0, 1))), "unsettled", 20),
        (nights((6, (1, 0)), (4, (0, 1))), "unsettled", 6),
        (nights((6, (1, 0)), (2, (0, 1)), (1, (0, 0))), "unsettled", 6),
        (nights((6, (0, 1)), (2, (1, 0))), "unsettled", 6),
        (nights((6, (1, 0)), (1, (0, 1)), (1, (1, 0))), "flaky", None),
        (nights((6, (3, 0)), (1, (2, 1))), "flaky", None),
    ],
)
def test_one_turn_among_many_samples_is_no_regression_and_not_flaky_either(of, state, since):
    found = stand(of, others=400)
    assert found.standing.state == state
    assert (found.change.night if found.change else None) == since


def test_a_sample_that_did_not_run_tonight_stands_as_before():
    assert stand([*[(1, 2), (2, 1)] * 6, (0, 0)]).standing.state == "flaky"
