"""Graders of how a session ended: `completed` and `exit-success`.

Keywords, conditions and texts are those of Vally (0.15).
"""

from dataclasses import dataclass
from typing import ClassVar

from graders.event_places import MOST_REFS, placed_events
from graders.text_searches import NO_OUTPUT, final_message
from harness.types.events import (
    AssistantMessage,
    ErrorEvent,
    SystemEvent,
    ToolCall,
    ToolResult,
)
from harness.types.grades import Grade
from harness.types.protocols import Reads, Subject
from harness.types.taxonomy import Taxonomy
from harness.types.trajectories import Trajectory

_TAXONOMY = Taxonomy(reference="reference-free", scope="trajectory-level")
_NO_END = "No turn_end events found — session may have crashed mid-turn"


@dataclass(frozen=True, slots=True)
class Completed:
    """Passes when the agent answered, no error happened, and a reply of the model came to its end.

    The answer is the last message of the last turn; white space alone is none. A reply has ended
    where the record holds a system event `turn_end`, or a step and neither `turn_start` nor
    `turn_end_missing`. A record that
    knows none of them has to end with a message, not with a call or a result that nobody took up.
    """

    taxonomy: ClassVar[Taxonomy] = _TAXONOMY
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()

    def grade(self, subject: Subject, /) -> Grade:
        """Look at the output, the errors and the ends of replies."""
        output = final_message(subject.trajectory)
        if output is None:
            return Grade(score=0.0, evidence=NO_OUTPUT)
        errors = [
            ref for ref, event in placed_events(subject.trajectory) if isinstance(event, ErrorEvent)
        ]
        if errors:
            evidence = f"{len(errors)} error event(s) in trajectory"
            return Grade(score=0.0, evidence=evidence, refs=tuple(errors[:MOST_REFS]))
        if not _has_ended_reply(subject.trajectory):
            return Grade(score=0.0, evidence=_NO_END, refs=(output[0],))
        return Grade(score=1.0, evidence="Agent session completed successfully", refs=(output[0],))


@dataclass(frozen=True, slots=True)
class ExitSuccess:
    """Passes when the agent answered, whatever went wrong on the way.

    The answer is the last message of the last turn; white space alone is none.
    """

    taxonomy: ClassVar[Taxonomy] = _TAXONOMY
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()

    def grade(self, subject: Subject, /) -> Grade:
        """Look for an output."""
        output = final_message(subject.trajectory)
        if output is None:
            return Grade(score=0.0, evidence=NO_OUTPUT)
        return Grade(score=1.0, evidence="Agent completed successfully", refs=(output[0],))


def _has_ended_reply(trajectory: Trajectory) -> bool:
    marks, last = set(), None
    for event in trajectory.events():
        if isinstance(event, SystemEvent):
            marks.add(event.kind)
        elif isinstance(event, AssistantMessage | ToolCall | ToolResult):
            last = event
    if marks & {"turn_start", "turn_end", "turn_end_missing"}:
        return "turn_end" in marks
    return any(turn.steps for turn in trajectory.turns) or isinstance(last, AssistantMessage)
