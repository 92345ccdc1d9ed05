"""Extractors of what the agent did with a tool: the arguments it gave, the output it got.

They follow the extractors of the same names in letta-evals (0.3 to 0.26), except that all calls
of a parallel step are seen.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.system.json_values import compact_json
from harness.types.errors import GraderError
from harness.types.events import ToolCall, ToolResult
from harness.types.grades import Ref
from harness.types.protocols import Submission
from harness.types.trajectories import Trajectory, Turn

_Place = tuple[int, int]
_TOOL_NAME = {"description": "Name of the tool, exactly as the agent calls it."}
_ALIASES = {
    "description": "Further exact names of the same tool, such as `mcp__docs__search` for `search`."
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolArguments:
    """Gives the arguments of the first call of a tool, as the text that was sent.

    A tool that was never called gives `{}`.
    """

    tool_name: str = field(metadata=_TOOL_NAME)
    aliases: tuple[str, ...] = field(default=(), metadata=_ALIASES)

    def extract(self, trajectory: Trajectory, /) -> Submission:
        """Take the arguments."""
        place = _first_call(trajectory, (self.tool_name, *self.aliases))
        if place is None:
            return Submission("{}")
        call = trajectory.turns[place[0]].events[place[1]]
        text = _arguments(call) if isinstance(call, ToolCall) else ""
        return Submission(text, (Ref(turn=place[0], event=place[1]),))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """Gives the output of the first call of a tool: its own result, also among parallel calls.

    The result may come in a later turn; that of a failed call counts. No call or no result is
    an empty text.
    """

    tool_name: str = field(metadata=_TOOL_NAME)
    aliases: tuple[str, ...] = field(default=(), metadata=_ALIASES)

    def extract(self, trajectory: Trajectory, /) -> Submission:
        """Take the output."""
        call = _first_call(trajectory, (self.tool_name, *self.aliases))
        for called, (t, e) in _pairs(trajectory):
            if called == call:
                result = trajectory.turns[t].events[e]
                text = result.output if isinstance(result, ToolResult) else ""
                return Submission(text, (Ref(turn=t, event=e),))
        return Submission("")


def _first_call(trajectory: Trajectory, names: tuple[str, ...]) -> _Place | None:
    for t, turn in enumerate(trajectory.turns):
        for e, event in enumerate(turn.events):
            if isinstance(event, ToolCall) and event.name in names:
                return t, e
    return None


def _arguments(call: ToolCall) -> str:
    if call.arguments_text is not None:
        return call.arguments_text
    try:
        return compact_json(call.arguments)
    except ValueError as error:
        raise GraderError(f"the arguments of {call.name!r} are no JSON: {error}") from error


def _pairs(trajectory: Trajectory) -> Iterator[tuple[_Place, _Place]]:
    """Give (call, result) for every result that has a call.

    A result belongs to the latest earlier call with its id, over the whole conversation; one
    without an id to the first call of its turn that has no result yet.
    """
    latest: dict[str, _Place] = {}
    for t, turn in enumerate(trajectory.turns):
        yield from _pairs_of_turn(t, turn, latest)


def _pairs_of_turn(
    t: int, turn: Turn, latest: dict[str, _Place]
) -> Iterator[tuple[_Place, _Place]]:
    waiting: dict[_Place, None] = {}
    for e, event in enumerate(turn.events):
        if isinstance(event, ToolCall):
            waiting[t, e] = None
            if event.call_id is not None:
                latest[event.call_id] = (t, e)
        elif isinstance(event, ToolResult):
            first = next(iter(waiting), None)
            call = first if event.call_id is None else latest.get(event.call_id)
            if call is not None:
                waiting.pop(call, None)
                yield call, (t, e)
