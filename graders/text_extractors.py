"""Extractors of what the agent said: its last message, its first, all of them, those of one turn.

They follow the extractors of the same names in letta-evals (0.3 to 0.26).
"""

from dataclasses import dataclass, field

from graders.submissions import assistant_messages, join_pieces, last_message, submission_of
from harness.types.grades import Ref
from harness.types.protocols import Submission
from harness.types.trajectories import Trajectory

_SEPARATOR = {"description": "Text between two messages; a line break by default."}


@dataclass(frozen=True, slots=True)
class LastAssistant:
    """Extracts the agent's last message of all turns, even if it is empty."""

    def extract(self, trajectory: Trajectory, /) -> Submission:
        """Take the message."""
        return submission_of(last_message(trajectory))


@dataclass(frozen=True, slots=True)
class FirstAssistant:
    """Extracts the agent's first message, also a greeting before the user's first prompt."""

    def extract(self, trajectory: Trajectory, /) -> Submission:
        """Take the message."""
        return submission_of(next(assistant_messages(trajectory), None))


@dataclass(frozen=True, slots=True, kw_only=True)
class AllAssistant:
    """Extracts all messages of the agent, joined by a separator; empty ones are kept."""

    separator: str = field(default="\n", metadata=_SEPARATOR)

    def extract(self, trajectory: Trajectory, /) -> Submission:
        """Join the messages."""
        return join_pieces(assistant_messages(trajectory), self.separator)


@dataclass(frozen=True, slots=True, kw_only=True)
class LastTurn:
    """Extracts the agent's messages after the user's last prompt, joined by a separator."""

    separator: str = field(default="\n", metadata=_SEPARATOR)

    def extract(self, trajectory: Trajectory, /) -> Submission:
        """Join the messages."""
        last = len(trajectory.turns) - 1
        messages = assistant_messages(Trajectory(turns=trajectory.turns[-1:]))
        moved = [(Ref(turn=last, event=ref.event), text) for ref, text in messages]
        return join_pieces(moved, self.separator)
