"""A trial as plain text."""

from datetime import UTC, datetime

from harness.reports.trial_text import trial_text
from harness.types.events import (
    AssistantMessage,
    ErrorEvent,
    Reasoning,
    SystemEvent,
    ToolCall,
    ToolResult,
    UserMessage,
)
from harness.types.grades import Grade, Ref
from harness.types.trajectories import Trajectory, Turn, Usage
from harness.types.trials import Attempt, Failure, Keys, Timing, Trial

AT = datetime(2031, 2, 3, tzinfo=UTC)
EVENTS = (
    UserMessage(text="which\nrelease?"),
    Reasoning(text="look it up"),
    ToolCall(call_id="c", name="lookup", arguments={"k": "é"}, arguments_text='{"k": "é"}'),
    ToolResult(call_id="c", name="lookup", output="boom \x1b[31m", ok=False),
    ToolResult(call_id="z", name=None, output="ghost"),
    ToolCall(call_id="d", name="other", arguments={"n": 1}),
    SystemEvent(kind="compaction", text="cut"),
    SystemEvent(kind="approval_request", data={"tool_call_ids": ["c", "d", "gone"]}),
    SystemEvent(
        kind="approval_response",
        data={
            "approvals": [
                {"type": "approval", "approve": True, "tool_call_id": "c"},
                {"type": "approval", "approve": False, "tool_call_id": "d", "reason": "not now"},
                {"odd": 1},
            ]
        },
    ),
    SystemEvent(kind="approval_response", text="not ever", data={"approve": False}),
    SystemEvent(kind="approval_response", data={"approve": "\x1b"}),
    SystemEvent(kind="other", data={"n": 1}),
    SystemEvent(kind="bare"),
    ErrorEvent(kind="stream_cut", message="half"),
    AssistantMessage(text="rt_1"),
)

EXPECTED = """\
s1 on m, epoch 1: failed, score 0.500
  agent failure: max_steps: no answer
  attempt 0: 1.00 s, connection_lost: reset
  attempt 1: 2.00 s, ok
  turn 0
    [0]  user        which
                     release?
    [1]  reasoning   look it up
    [2]  call        lookup {"k": "é"}
    [3]  failed      lookup: boom \\x1b[31m
    [4]  result      (no call): ghost
    [5]  call        other {"n":1}
    [6]  system      compaction: cut
    [7]  system      approval_request: lookup, other, gone
    [8]  system      approval_response: approved lookup; denied other: not now; {"odd":1}
    [9]  system      approval_response: denied: not ever
    [10] system      approval_response: {"approve":"\\u001b"}
    [11] system      other: {"n":1}
    [12] system      bare:
    [13] error       stream_cut: half
    [14] assistant   rt_1
  snapshot of db: {"rows": [1]}
  snapshot of long:
    {
      "text": "TEXT\\u001b",
      "rows": []
    }
  grades
    g: failed 0.500: it did not
      see turn 0 [3], turn 0 [8] characters 0-4
    h: error: boom
"""


def test_everything_that_happened_is_shown_and_nothing_controls_the_terminal():
    trial = Trial(
        sample_id="s1",
        model="m",
        epoch=1,
        status="agent_failure",
        passed=False,
        score=0.5,
        grades={
            "g": Grade(
                score=0.5,
                passed=False,
                evidence="it did not",
                refs=(Ref(turn=0, event=3), Ref(turn=0, event=8, start=0, end=4)),
            ),
            "h": Grade(status="error", evidence="boom"),
        },
        trajectory=Trajectory(turns=(Turn(events=EVENTS),)),
        attempts=(
            Attempt(
                started_at=AT, seconds=1, error=Failure(code="connection_lost", message="reset")
            ),
            Attempt(started_at=AT, seconds=2),
        ),
        usage=Usage(),
        timing=Timing(started_at=AT),
        error=Failure(code="max_steps", message="no answer"),
        keys=Keys(drive="d", sample="s"),
        snapshots={"db": {"rows": [1]}, "long": {"text": "x" * 120 + "\x1b", "rows": []}},
    )
    assert trial_text(trial) == EXPECTED.replace("TEXT", "x" * 120)
