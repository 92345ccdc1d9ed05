"""Stored trials for tests of the log."""

from datetime import UTC, datetime

from harness.types.events import AssistantMessage, UserMessage
from harness.types.grades import Grade
from harness.types.trajectories import Trajectory, Turn, Usage
from harness.types.trials import Keys, Timing, Trial

AT = datetime(2031, 2, 3, 4, 5, 6, tzinfo=UTC)


def stored_trial(sample_id="a", *, text="hi", passed=True, details=None, **fields):
    """Make a trial of one turn with one grade."""
    events = (UserMessage(text="?"), AssistantMessage(text=text))
    return Trial(
        **{
            "sample_id": sample_id,
            "model": "m",
            "epoch": 0,
            "status": "completed",
            "passed": passed,
            "score": 1.0,
            "grades": {"g": Grade(score=1.0, passed=passed, details=details or {})},
            "trajectory": Trajectory(turns=(Turn(events=events),)),
            "attempts": (),
            "usage": Usage(input_tokens=3),
            "timing": Timing(started_at=AT, target_seconds=0.5),
            "error": None,
            "keys": Keys(drive="d", sample="s"),
            **fields,
        }
    )
