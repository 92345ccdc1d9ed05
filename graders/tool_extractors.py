"""Extractors of what the agent did with a tool: the arguments it gave, the output it got.

They follow the extractors of the same names in letta-evals (0.3 to 0.26), except that all calls
of a parallel step are seen.
"""

from dataclasses import dataclass, field

from graders.submissions import submission_of
from harness.messages.event_texts import event_text
from harness.messages.pairing import Place, pair_results
from harness.types.events import ToolCall
from harness.types.grades import Ref
from harness.types.protocols import Submission
from harness.types.trajectories import Trajectory

_TOOL_NAME = {"description": "Name of the tool, exactly as the agent calls it."}
_ALIASES = {
    "description": "Further exact names of the same tool, such as `mcp__docs__search` for `search`."
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolArguments:
    """Extracts the arguments of the first call of a tool, as the text that was sent.

    A tool that was never called gives `{}`.
    """

    tool_name: str = field(metadata=_TOOL_NAME)
    aliases: tuple[str, ...] = field(default=(), metadata=_ALIASES)

    def extract(self, trajectory: Trajectory, /) -> Submission:
        """Take the arguments."""
        place = _first_call(trajectory, (self.tool_name, *self.aliases))
        if place is None:
            return Submission("{}")
        return _whole_event(trajectory, place)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """Extracts the output of the first call of a tool: its own result, also among parallel calls.

    The result may come in a later turn; that of a failed call counts. No call or no result
    gives an empty text.
    """

    tool_name: str = field(metadata=_TOOL_NAME)
    aliases: tuple[str, ...] = field(default=(), metadata=_ALIASES)

    def extract(self, trajectory: Trajectory, /) -> Submission:
        """Take the output."""
        call = _first_call(trajectory, (self.tool_name, *self.aliases))
        for pair in pair_results(trajectory.turns):
            if pair.call == call:
                return _whole_event(trajectory, pair.result)
        return Submission("")


def _first_call(trajectory: Trajectory, names: tuple[str, ...]) -> Place | None:
    for t, turn in enumerate(trajectory.turns):
        for e, event in enumerate(turn.events):
            if isinstance(event, ToolCall) and event.name in names:
                return t, e
    return None


def _whole_event(trajectory: Trajectory, place: Place) -> Submission:
    turn, event = place
    text = event_text(trajectory.turns[turn].events[event])
    return submission_of((Ref(turn=turn, event=event), text))
