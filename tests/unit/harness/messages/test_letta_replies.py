import json

import pytest
from fakes.factories import DATA

from harness.messages.letta_replies import (
    LettaFailure,
    LettaReply,
    read_failure,
    read_letta_reply,
)
from harness.types.trajectories import Usage


def test_a_blocking_reply_says_how_it_ended():
    body = json.loads((DATA / "letta/parallel_calls.json").read_text(encoding="utf-8"))
    assert read_letta_reply(body) == LettaReply(
        stop_reason="end_turn", usage=Usage(input_tokens=1277, output_tokens=39), run_id="run-1"
    )


@pytest.mark.parametrize(
    ("body", "needs"),
    [
        ({"messages": [], "stop_reason": {"stop_reason": "requires_approval"}}, True),
        ({"messages": [], "stop_reason": "requires_approval"}, True),
        ({"messages": [], "stop_reason": {"stop_reason": "end_turn"}}, False),
        ({"messages": [3], "stop_reason": None, "usage": 3}, False),
    ],
)
def test_a_reply_may_wait_for_approval(body, needs):
    assert read_letta_reply(body).needs_approval is needs


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (None, "the reply must be an object, got null"),
        ({}, "messages must be a list, got null"),
    ],
)
def test_what_is_no_reply_is_refused(body, error):
    with pytest.raises(ValueError, match=error):
        read_letta_reply(body)


@pytest.mark.parametrize(
    ("body", "failure"),
    [
        ({"message_type": "error_message", "error_type": "llm_rate_limit", "message": "Wait.",
          "detail": "429", "run_id": "r"},
         LettaFailure(kind="llm_rate_limit", message="Wait.", detail="429", run_id="r")),
        ({"error": {"type": "llm_authentication", "message": "No.", "detail": "401"}},
         LettaFailure(kind="llm_authentication", message="No.", detail="401")),
        ({"error": {"message": "No.", "error_type": "llm_error", "retryable": True},
          "run_id": "r"},
         LettaFailure(kind="llm_error", message="No.", run_id="r", retryable=True)),
        ({"detail": "Agent not found"}, LettaFailure(kind="error", detail="Agent not found")),
        ({"detail": [{"loc": ["body"]}]}, None),
        ({}, None),
        ("Bad gateway", None),
    ],
)  # fmt: skip
def test_a_failure_is_read_from_a_stream_and_from_a_response(body, failure):
    assert read_failure(body) == failure


def test_a_failure_is_told_once():
    assert LettaFailure(kind="e", message="No.", detail="401").text == "No. 401"
    assert LettaFailure(kind="e", message="No. 401", detail="401").text == "No. 401"
