"""Records as trials of ours."""

from datetime import UTC, datetime

import msgspec
import pytest
from fakes.factories import make_sample, make_trajectory

from harness.running.foreign_trials import foreign_trial, is_skipped, recorded_grade
from harness.types.events import AssistantMessage, UserMessage
from harness.types.imports import Imported
from harness.types.trajectories import Usage
from harness.types.trials import Failure


def trial_of(**fields):
    record = Imported(**{"place": "r:1", "trajectory": make_trajectory(), **fields})
    return foreign_trial(record, make_sample(), model="m", epoch=2)


@pytest.mark.parametrize(
    ("name", "value", "score", "passed"),
    [
        ("resolved", True, 1.0, True),
        ("resolved", False, 0.0, False),
        ("reward", 0.25, 0.25, False),
        ("reward", 1, 1.0, True),
        ("exit_code", 0, 1.0, True),
        ("info.exit_status", 1, 0.0, False),
        ("returncode", 137, 0.0, False),
    ],
)
def test_an_outcome_in_bounds_is_a_score(name, value, score, passed):
    grade = recorded_grade(name, value)
    assert (grade.status, grade.score, grade.passed) == ("graded", score, passed)
    assert grade.details == {"value": value}


@pytest.mark.parametrize("value", ["submitted", 7, -0.5, None, {"a": 1}])
def test_any_other_outcome_is_told_and_is_no_score(value):
    grade = recorded_grade("reward", value)
    assert (grade.status, grade.score, grade.details) == ("skipped", None, {"value": value})


def test_the_times_of_a_trial_are_those_of_its_events():
    begin, end = datetime(2031, 2, 3, 4, 5, tzinfo=UTC), datetime(2031, 2, 3, 4, 6)  # noqa: DTZ001
    events = [UserMessage(text="q", at=begin), AssistantMessage(text="a", at=end)]
    trial = trial_of(trajectory=make_trajectory(events))
    assert (trial.timing.started_at, trial.timing.target_seconds) == (begin, 60.0)
    assert trial.timing.stated_seconds is msgspec.UNSET
    stated = trial_of(seconds=1.5).timing
    assert (stated.target_seconds, stated.stated_seconds) == (1.5, 1.5)


@pytest.mark.parametrize(
    ("status", "failure", "stored"),
    [
        ("completed", None, None),
        ("grading_error", None, None),
        ("target_error", Failure(code="overloaded", message="503"), "overloaded"),
        ("agent_failure", None, "agent_crash"),
        ("target_error", None, "target_broke"),
    ],
)
def test_a_trial_that_did_not_end_well_says_why(status, failure, stored):
    trial = trial_of(status=status, failure=failure)
    assert (trial.error and trial.error.code) == stored


def test_usage_that_is_told_apart_counts():
    assert trial_of(usage=Usage(input_tokens=9)).usage.input_tokens == 9


def test_what_was_skipped_says_so():
    trial = trial_of(skipped="no Docker here", outcomes={"resolved": True})
    assert is_skipped(trial)
    assert list(trial.grades) == ["recorded.resolved", "recorded.skipped"]
    assert "no Docker here" in trial.grades["recorded.skipped"].evidence
