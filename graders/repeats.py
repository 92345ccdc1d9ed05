"""Graders of an agent that goes round in circles: `max-repeat` and `loop-outcome`.

Keywords, options and meaning are those of Vally (0.15). Actions are compared with the action
before them, among the tools that are watched: an unwatched tool between two equal actions changes
nothing, a watched one begins anew.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

from graders.event_places import MOST_REFS, placed_calls, placed_events
from graders.json_comparison import same_json
from graders.text_searches import quoted
from graders.tool_names import NamePatterns, lint_patterns
from harness.types.events import ToolCall, ToolResult
from harness.types.grades import Grade, Ref
from harness.types.protocols import Reads, Subject
from harness.types.taxonomy import Taxonomy
from harness.types.trajectories import Trajectory

_Match = Literal["observation", "name", "name-args"]
_TAXONOMY = Taxonomy(reference="reference-free", scope="trajectory-level")
_MATCH = {
    "description": "What makes two actions equal: `observation` (same tool and same result), "
    "`name` (same tool), `name-args` (same tool and arguments)."
}
_TOOLS = {
    "description": "Regular expressions; only tools whose name one of them matches are watched. "
    "Without them all are."
}
_Action = ToolCall | ToolResult


class _Streak(NamedTuple):
    """Equal actions in a row: the tool, and where they stand."""

    name: str
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxRepeat:
    """Passes when no action is repeated more than `max` times in a row.

    `max: 3` lets three equal actions pass and not four. Results without a call are not counted.
    """

    taxonomy: ClassVar[Taxonomy] = _TAXONOMY
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()

    max: int = field(
        metadata={"ge": 1, "description": "How many equal actions in a row pass; from 1."}
    )
    match: _Match = field(default="observation", metadata=_MATCH)
    tools: tuple[str, ...] = field(default=(), metadata=_TOOLS)

    def lint(self) -> Iterable[tuple[str, str]]:
        """Find invalid patterns."""
        return lint_patterns(self.tools)

    def grade(self, subject: Subject, /) -> Grade:
        """Find the longest streak."""
        longest = _longest_streak(subject.trajectory, self.match, NamePatterns(self.tools))
        if longest is None:
            return Grade(score=1.0, evidence=self._nothing(subject.trajectory))
        count = len(longest.refs)
        shown = f"{quoted(longest.name)} {count} time(s) in a row"
        if count <= self.max:
            evidence = f"The longest repetition is {shown} (at most {self.max})"
            return Grade(score=1.0, evidence=evidence)
        return Grade(
            score=0.0,
            evidence=f"The same action was taken too often: {shown} (at most {self.max})",
            refs=longest.refs[:MOST_REFS],
        )

    def _nothing(self, trajectory: Trajectory) -> str:
        """Say why there is nothing to count: no call, or none with a result."""
        watched = " that is watched" if self.tools else ""
        names = NamePatterns(self.tools)
        called = sum(names.match(call.name) for _, call in placed_calls(trajectory))
        if called:
            return f"No call of a tool{watched} has a result: {called} call(s) were not compared"
        return f"No tool{watched} was used"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopOutcome:
    """Passes when the agent looped exactly if it should: it does not by default.

    Equal actions in a row beyond the first are retries; more of them than `max_acceptable_retries`
    are a loop.
    """

    taxonomy: ClassVar[Taxonomy] = _TAXONOMY
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()

    max_acceptable_retries: int = field(
        metadata={"ge": 0, "description": "How many retries in a row are no loop; from 0."}
    )
    should_loop: bool = field(
        default=False, metadata={"description": "Whether the agent is expected to loop."}
    )
    match: _Match = field(default="name-args", metadata=_MATCH)
    tools: tuple[str, ...] = field(default=(), metadata=_TOOLS)

    def lint(self) -> Iterable[tuple[str, str]]:
        """Find invalid patterns."""
        return lint_patterns(self.tools)

    def grade(self, subject: Subject, /) -> Grade:
        """Find the longest streak."""
        longest = _longest_streak(subject.trajectory, self.match, NamePatterns(self.tools))
        retries = len(longest.refs) - 1 if longest else 0
        looped = retries > self.max_acceptable_retries
        name = f" of {quoted(longest.name)}" if longest and retries else ""
        counted = f"{retries} retries{name} in a row (at most {self.max_acceptable_retries})"
        expected = "" if looped is self.should_loop else ", against what was expected"
        did = "looped" if looped else "did not loop"
        return Grade(
            score=float(looped is self.should_loop),
            evidence=f"The agent {did}{expected}: {counted}",
            refs=longest.refs[:MOST_REFS] if longest and looped else (),
        )


def _longest_streak(trajectory: Trajectory, match: _Match, watched: NamePatterns) -> _Streak | None:
    """Return the first of the longest streaks; every action is compared once."""
    actions = _actions(trajectory, match, watched)
    same, start, best = _SAME[match], 0, (0, 0)
    for index, (_, action) in enumerate(actions):
        if index and not same(actions[index - 1][1], action):
            start = index
        if index + 1 - start > best[1] - best[0]:
            best = (start, index + 1)
    if not actions:
        return None
    streak = actions[best[0] : best[1]]
    return _Streak(streak[0][1].name or "", tuple(ref for ref, _ in streak))


def _actions(
    trajectory: Trajectory, match: _Match, watched: NamePatterns
) -> list[tuple[Ref, _Action]]:
    wanted = ToolResult if match == "observation" else ToolCall
    return [
        (ref, event)
        for ref, event in placed_events(trajectory)
        if isinstance(event, ToolCall | ToolResult) and isinstance(event, wanted)
        if event.name is not None and watched.match(event.name)
    ]


def _same_name(one: Any, other: Any) -> bool:
    return bool(one.name == other.name)


def _same_call(one: Any, other: Any) -> bool:
    return _same_name(one, other) and same_json(one.arguments, other.arguments)


def _same_result(one: Any, other: Any) -> bool:
    return _same_name(one, other) and (one.output, one.ok) == (other.output, other.ok)


_SAME: Mapping[_Match, Callable[[Any, Any], bool]] = {
    "observation": _same_result,
    "name": _same_name,
    "name-args": _same_call,
}
