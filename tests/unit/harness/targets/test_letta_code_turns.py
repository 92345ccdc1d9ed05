"""A turn of Letta Code, read line by line."""

import json

from harness.targets.letta_code_turns import UNREAD_LINE, CodeTurn
from harness.types.events import ErrorEvent

HALF = {
    "type": "message",
    "message_type": "tool_call_message",
    "id": "m1",
    "tool_calls": {"name": 5, "tool_call_id": "c", "arguments": "{"},
}


def test_a_message_that_is_broken_when_the_command_ends_is_recorded_as_unread():
    recorded = []
    turn = CodeTurn(recorded.append)
    turn.take(json.dumps(HALF).encode())
    turn.finish()
    [error] = [event for event in recorded if isinstance(event, ErrorEvent)]
    assert error.kind == UNREAD_LINE
    assert "name must be a non-empty text" in error.message
