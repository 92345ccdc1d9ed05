"""Weights, roles, thresholds and turns on graders of trajectories, in a trial."""

import pytest
from fakes.conversations import read_conversation

import harness
from harness.types.errors import SuiteError

EVENTS = [
    {"user": "Where is it?"},
    {"call": [{"track": {}}, {"track": {}}]},
    {"result": "in Porto"},
    {"result": {"output": "no such parcel", "ok": False}},
    {"assistant": "In Porto."},
]
TOLD = {"type": "output-contains", "config": {"substring": "Porto"}}
UNTOLD = {"type": "output-contains", "config": {"substring": "Lisbon"}}
DONE = {"type": "completed"}
RATE = {"type": "tool-success-rate"}


def trial_of(tmp_path, *graders, **suite):
    document = {"name": "t", "samples": [{"id": "s1", "input": "q"}], "graders": list(graders)}
    made = harness.Suite.from_mapping(document | suite)
    source = {"s1": read_conversation(EVENTS)}
    (trial,) = harness.grade(source, made, out=tmp_path, progress=False).trials()
    return trial


def test_weights_are_by_the_type_of_a_grader_and_need_not_sum_to_one(tmp_path):
    scoring = {"threshold": 0.7, "weights": {"completed": 1, "output-contains": 0.5}}
    trial = trial_of(tmp_path, DONE, UNTOLD, scoring=scoring)
    assert trial.score == pytest.approx(2 / 3)
    assert trial.passed is False


@pytest.mark.parametrize(("graders", "passed"), [((DONE, TOLD), True), ((DONE, UNTOLD), False)])
def test_without_a_threshold_every_grader_has_to_pass(tmp_path, graders, passed):
    assert trial_of(tmp_path, *graders).passed is passed


def test_one_miss_of_three_is_enough_for_a_threshold_and_one_of_two_is_not(tmp_path):
    scoring = {"threshold": 0.6}
    assert trial_of(tmp_path, DONE, TOLD, UNTOLD, scoring=scoring).passed is True
    assert trial_of(tmp_path, DONE, UNTOLD, scoring=scoring).passed is False


def test_an_observed_grader_decides_nothing(tmp_path):
    trial = trial_of(tmp_path, DONE, {**UNTOLD, "role": "observed"})
    assert (trial.passed, trial.score) == (True, 1.0)


@pytest.mark.parametrize(
    ("entry", "passed"),
    [
        (RATE, False),
        ({**RATE, "threshold": 0.5}, True),
        ({**RATE, "config": {"min": 0.5}}, True),
        ({**RATE, "config": {"min": 0.6}}, False),
        ({"type": "all-of", "config": {"graders": [DONE, {**RATE, "threshold": 0.4}]}}, True),
        ({"type": "all-of", "config": {"graders": [DONE, RATE]}}, False),
        ({"type": "all-of", "config": {"graders": [DONE, RATE]}, "threshold": 0.5}, True),
        ({"type": "any-of", "config": {"graders": [UNTOLD, RATE]}, "threshold": 0.5}, True),
        ({"type": "not", "config": {"grader": RATE}, "threshold": 0.6}, False),
        ({**UNTOLD, "threshold": 0.0}, True),
        ({**TOLD, "turn": 0}, True),
        ({**TOLD, "turn": 1}, False),
    ],
)
def test_a_threshold_and_a_turn_are_those_of_the_entry(tmp_path, entry, passed):
    assert trial_of(tmp_path, entry).passed is passed


def test_two_thresholds_of_one_grader_are_refused(tmp_path):
    with pytest.raises(SuiteError, match=r"`threshold` and `config\.min` are both given"):
        trial_of(tmp_path, {**RATE, "threshold": 0.5, "config": {"min": 0.6}})


def test_a_skipped_grade_is_outside_the_denominator(tmp_path):
    rate = {**RATE, "config": {"tools": ["never"]}}
    trial = trial_of(tmp_path, DONE, rate)
    assert (trial.grades["tool-success-rate"].status, trial.score) == ("skipped", 1.0)


def test_a_grader_that_cannot_judge_is_an_error_of_the_trial(tmp_path):
    trial = trial_of(tmp_path, DONE, {"type": "token-budget", "config": {"max": 1}})
    assert (trial.status, trial.passed, trial.score) == ("grading_error", None, None)
