import pytest

from harness.importers.recorded_failures import read_outage, status_of
from harness.types.trials import Failure


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ("The prompt is too long", "context_length", "The prompt is too long"),
        ({"type": "rate_limit_error", "message": "slow"}, "rate_limited", "slow"),
        ("it broke", "server_error", "it broke"),
        (3, "server_error", "3"),
        ([], "server_error", "[]"),
    ],
)
def test_the_words_of_an_error_say_what_it_was(error, code, message):
    assert read_outage(error) == Failure(code=code, message=message)


def test_a_failure_decides_the_status_of_its_trial():
    assert status_of(None) == "completed"
    assert status_of(Failure(code="max_steps", message="")) == "agent_failure"
    assert status_of(Failure(code="server_error", message="")) == "target_error"
