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
    [7]  error       stream_cut: half
    [8]  assistant   rt_1
  snapshot of db: {"rows": [1]}
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
        snapshots={"db": {"rows": [1]}},
    )
    assert trial_text(trial) == EXPECTED
