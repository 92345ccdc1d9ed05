"""Numbers in words, with what they rest on."""

import pytest

from harness.reports.number_words import amount, rate_words, score_words, try_words
from harness.types.summaries import GraderSummary, Interval, Mean, PassAtK, SliceSummary


def numbers(passed, trials, *, errors=0, ends=(0.786, 0.957), **fields):
    rate = Interval(value=None)
    if trials > errors:
        rate = Interval(value=passed / trials, low=ends[0], high=ends[1])
    return SliceSummary(
        **{
            "samples": trials,
            "trials": trials,
            "errors": errors,
            "ungraded": 0,
            "passed": passed,
            "pass_rate": rate,
            "effective_trials": None,
            "pass_rate_if_errors_failed": passed / trials if errors else None,
            "pass_rate_if_errors_passed": (passed + errors) / trials if errors else None,
            "score": Mean(mean=None),
            "graders": {},
            **fields,
        }
    )


@pytest.mark.parametrize(
    ("given", "errors", "words"),
    [
        (
            numbers(45, 50),
            "fail",
            "pass rate 90.0 % (45 of 50), 95 % interval 78.6 to 95.7 %",
        ),
        (
            numbers(45, 50, errors=2),
            "fail",
            (
                "pass rate 90.0 % (45 of 50, 2 errors counted as failures), "
                "95 % interval 78.6 to 95.7 %; 94.0 % if both had passed"
            ),
        ),
        (
            numbers(13, 20, samples=5, ends=(0.298, 0.89), effective_trials=6.5),
            "fail",
            (
                "pass rate 65.0 % (5 samples x 4 epochs), 95 % interval 29.8 to 89.0 %, "
                "worth 6.5 independent trials"
            ),
        ),
        (
            numbers(10, 19, samples=5, ends=(0.298, 0.89), effective_trials=6.5),
            "fail",
            (
                "pass rate 52.6 % (5 samples, 19 trials), 95 % interval 29.8 to 89.0 %, "
                "worth 6.5 independent trials"
            ),
        ),
        (
            numbers(3, 4, samples=1, ends=(None, None)),
            "fail",
            "pass rate 75.0 % (3 of 4 epochs of one sample)",
        ),
        (numbers(0, 3, errors=3), "fail", "no graded trial: 3 errors"),
        (
            numbers(4, 10, samples=8, errors=2),
            "exclude",
            (
                "pass rate 40.0 % (4 of 8, 2 errors left out), 95 % interval 78.6 to 95.7 %; "
                "40.0 % if both had failed, 60.0 % if passed"
            ),
        ),
    ],
)
def test_a_rate_is_said_with_its_trials_interval_and_bounds(given, errors, words):
    assert rate_words(given, errors) == words


def test_pass_at_k_is_said_with_epochs_samples_and_those_left_out():
    tries = PassAtK(
        k=2,
        at_least_one=Mean(mean=0.75),
        all_of_them=Mean(mean=0.5333, low=0.0, high=1.0),
        samples=5,
        left_out=1,
    )
    assert list(try_words(tries, 4)) == [
        "pass@2 75.0 % (2 of 4 epochs, 5 samples, 1 with fewer left out)",
        (
            "pass^2 53.3 % (2 of 4 epochs, 5 samples, 1 with fewer left out), "
            "95 % interval 0.0 to 100.0 %"
        ),
    ]


@pytest.mark.parametrize(
    ("mean", "rate", "words"),
    [
        (0.742, 0.5, "helpfulness 0.742, 95 % interval 0.711 to 0.773 (120 samples)"),
        (0.5, 0.5, None),
        (None, None, None),
    ],
)
def test_a_mean_score_is_said_where_it_is_no_pass_rate(mean, rate, words):
    grader = GraderSummary(
        mean=mean,
        low=0.711,
        high=0.773,
        pass_rate=Interval(value=rate),
        passed=0,
        failed=0,
        graded=120,
        errors=0,
        skipped=0,
        samples=120,
    )
    assert score_words("helpfulness", grader) == words


@pytest.mark.parametrize(
    ("value", "seconds", "money"),
    [
        (None, "-", "-"),
        (0.0, "0", "$0"),
        (0.000027, "<0.001", "$0.000027"),
        (0.0123, "0.0123", "$0.0123"),
        (0.5, "0.5", "$0.5"),
        (1.0, "1", "$1.00"),
        (1234.5, "1,234", "$1,234.50"),
    ],
)
def test_amounts_are_numbers_that_people_read(value, seconds, money):
    assert (amount(value, "s"), amount(value, "USD")) == (seconds, money)


def test_rates_near_none_and_all_are_not_rounded_to_them():
    text = rate_words(numbers(2999, 3000, ends=(0.0003, 0.99995)))
    assert text.startswith("pass rate >99.9 % (2999 of 3000)")
    assert "95 % interval <0.1 to >99.9 %" in text
