"""Errors that every trial would meet."""

import pytest

from harness.running.pace_breakers import Breaker
from harness.types.errors import POLICIES, TargetError

FATAL = sorted(code for code, policy in POLICIES.items() if policy.stops_after == 5)


def error(code, message="no"):
    return TargetError(message, code=code, hint="put it right")


def test_the_errors_that_every_trial_would_meet_are_these():
    assert FATAL == [
        "connection_refused",
        "forbidden",
        "not_found",
        "quota_exhausted",
        "unauthorized",
        "unknown_host",
        "untrusted_certificate",
    ]


@pytest.mark.parametrize("code", FATAL)
def test_five_in_a_row_stop_a_model(code):
    breaker = Breaker("m", 20)
    assert [breaker.ended(error(code)) for _ in range(7)] == [False] * 4 + [True, False, False]
    assert breaker.tripped.startswith("no further trial on m was started, for 5 in a row ended in")
    assert "put it right" in breaker.tripped
    assert "\n" not in breaker.tripped


@pytest.mark.parametrize("driven", [None, error("turn_timeout"), error("agent_crash")])
def test_a_trial_that_was_driven_ends_the_row(driven):
    breaker = Breaker("m", 20)
    for _ in range(3):
        assert not any(breaker.ended(error("unauthorized")) for _ in range(4))
        assert not breaker.ended(driven)
    assert breaker.tripped == ""


@pytest.mark.parametrize("code", ["bad_request", "overloaded", "rate_limited"])
@pytest.mark.parametrize(("places", "bound"), [(1, 50), (20, 50), (200, 400)])
def test_where_each_trial_may_only_have_had_bad_luck_it_takes_many(code, places, bound):
    breaker = Breaker("m", places)
    assert [breaker.ended(error(code)) for _ in range(bound)].index(True) == bound - 1


@pytest.mark.parametrize(
    "code", ["connection_lost", "server_error", "content_filter", "interrupted"]
)
def test_what_says_nothing_of_other_trials_neither_counts_nor_ends_the_row(code):
    breaker = Breaker("m", 20)
    assert not any(breaker.ended(error(code)) for _ in range(100))
    assert not any(breaker.ended(error("forbidden")) for _ in range(4))
    assert not breaker.ended(error(code))
    assert breaker.ended(error("forbidden"))


def test_another_error_begins_another_row():
    breaker = Breaker("m", 20)
    assert not any(breaker.ended(error("forbidden")) for _ in range(4))
    assert not any(breaker.ended(error("not_found")) for _ in range(4))
    assert breaker.ended(error("not_found"))
