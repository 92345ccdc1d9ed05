"""Graders that hold a number of the trajectory against a maximum.

Keywords and meaning are those of Vally (0.15); the score is 1 or 0, and the maximum itself is
within bounds.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from graders.event_places import MOST_REFS, placed_calls, placed_events
from graders.replies import count_replies, reply_calls
from graders.tool_names import NamePatterns, lint_patterns
from harness.types.errors import GraderError
from harness.types.events import ErrorEvent
from harness.types.grades import Grade, Ref
from harness.types.protocols import Reads, Subject
from harness.types.taxonomy import Taxonomy
from harness.types.trajectories import Trajectory, Usage

_TAXONOMY = Taxonomy(reference="reference-free", scope="trajectory-level")
_MAX: dict[str, Any] = {"ge": 0, "description": "The most that passes; a whole number from 0."}
_TOOLS = {
    "description": "Regular expressions; only calls of tools whose name one of them matches "
    "count. Without them all do."
}
_DURATION = re.compile(r"(?P<number>\d{1,9}(?:\.\d{1,9})?)\s?(?P<unit>ms|s|m|h)")
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudget:
    """Passes when input and output tokens together are at most `max`.

    What the record of another tool states of the whole conversation goes before the sum of what
    the replies used. A record that does not say how many tokens were used cannot be judged.
    """

    taxonomy: ClassVar[Taxonomy] = _TAXONOMY
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()

    max: int = field(metadata=_MAX)

    def grade(self, subject: Subject, /) -> Grade:
        """Sum up what was used."""
        used = _tokens(subject.facts.stated_usage)
        if used is None:
            used = _tokens(subject.trajectory.usage)
        if used is None:
            raise GraderError("the record does not say how many tokens were used")
        if used <= self.max:
            return Grade(score=1.0, evidence=f"{used} tokens (within budget of {self.max})")
        return Grade(score=0.0, evidence=f"{used} tokens exceeds max of {self.max}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallCount:
    """Passes when the agent made at most `max` tool calls, of all tools or of some.

    A call counts whether or not it has a result.
    """

    taxonomy: ClassVar[Taxonomy] = _TAXONOMY
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()

    max: int = field(metadata=_MAX)
    tools: tuple[str, ...] = field(default=(), metadata=_TOOLS)

    def lint(self) -> Iterable[tuple[str, str]]:
        """Find invalid patterns."""
        return lint_patterns(self.tools)

    def grade(self, subject: Subject, /) -> Grade:
        """Count the calls."""
        watched = NamePatterns(self.tools)
        calls = [ref for ref, call in placed_calls(subject.trajectory) if watched.match(call.name)]
        return _counted(len(calls), self.max, "tool call", calls[self.max :])


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCount:
    """Passes when the model replied at most `max` times.

    With `tools`, only replies with a call of such a tool count.
    """

    taxonomy: ClassVar[Taxonomy] = _TAXONOMY
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()

    max: int = field(metadata=_MAX)
    tools: tuple[str, ...] = field(default=(), metadata=_TOOLS)

    def lint(self) -> Iterable[tuple[str, str]]:
        """Find invalid patterns."""
        return lint_patterns(self.tools)

    def grade(self, subject: Subject, /) -> Grade:
        """Count the replies."""
        turns = subject.trajectory.turns
        if not self.tools:
            return _counted(sum(map(count_replies, turns)), self.max, "step")
        watched = NamePatterns(self.tools)
        steps = {
            (t, reply): Ref(turn=t, event=e)
            for t, turn in enumerate(turns)
            for e, call, reply in reply_calls(turn)
            if watched.match(call.name)
        }
        return _counted(len(steps), self.max, "step", list(steps.values())[self.max :])


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCount:
    """Passes when the conversation has at most `max` turns, one a prompt of the user."""

    taxonomy: ClassVar[Taxonomy] = _TAXONOMY
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()

    max: int = field(metadata=_MAX)

    def grade(self, subject: Subject, /) -> Grade:
        """Count the turns."""
        return _counted(len(subject.trajectory.turns), self.max, "turn")


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCount:
    """Passes when at most `max` errors happened while the agent worked.

    Results of failed tool calls are no such errors: see `tool-success-rate`.
    """

    taxonomy: ClassVar[Taxonomy] = _TAXONOMY
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()

    max: int = field(metadata=_MAX)

    def grade(self, subject: Subject, /) -> Grade:
        """Count the error events."""
        events = placed_events(subject.trajectory)
        errors = [ref for ref, event in events if isinstance(event, ErrorEvent)]
        return _counted(len(errors), self.max, "error", errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class WallTime:
    """Passes when the agent took at most `max`, such as `300s`.

    What the record of another tool states of the whole conversation counts. Else it is the time
    from the first event to the last; in a record whose events have no times, the sum of what the
    model's replies took. A record without any of these cannot be judged.
    """

    taxonomy: ClassVar[Taxonomy] = _TAXONOMY
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()

    max: str = field(
        metadata={"description": "A duration with its unit: `30000ms`, `300s`, `5m` or `1h`."}
    )

    def __post_init__(self) -> None:
        read_duration(self.max)

    def grade(self, subject: Subject, /) -> Grade:
        """Measure the time."""
        seconds = subject.facts.stated_seconds
        if seconds is None:
            seconds = _seconds(subject.trajectory)
        if seconds is None:
            raise GraderError("the record does not say how long the agent took")
        passed, shown = seconds <= read_duration(self.max), f"{round(seconds, 3):g}s"
        within = f"(within max of {self.max})" if passed else f"exceeds max of {self.max}"
        return Grade(score=float(passed), evidence=f"{shown} {within}")


def read_duration(text: str) -> float:
    """Return the seconds of a duration.

    Raises:
        ValueError: it has no unit, or is no duration.
    """
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no duration: write a number and a unit, such as 300s or 5m")
    return float(match["number"]) * _UNIT_SECONDS[match["unit"]]


def _counted(count: int, most: int, word: str, refs: Iterable[Ref] = ()) -> Grade:
    """Judge a count; `refs` are what is too much."""
    shown = f"{count} {word}{'' if count == 1 else 's'}"
    if count <= most:
        return Grade(score=1.0, evidence=f"{shown} (within max of {most})")
    evidence = f"{shown} exceeds max of {most}"
    return Grade(score=0.0, evidence=evidence, refs=tuple(refs)[:MOST_REFS])


def _tokens(usage: Usage | None) -> int | None:
    """Return input and output tokens together; None where neither is known."""
    if usage is None or (usage.input_tokens is None and usage.output_tokens is None):
        return None
    return (usage.input_tokens or 0) + (usage.output_tokens or 0)


def _seconds(trajectory: Trajectory) -> float | None:
    times = [event.at for event in trajectory.events() if event.at is not None]
    if len(times) > 1:
        try:
            return (max(times) - min(times)).total_seconds()
        except TypeError:
            raise GraderError(
                "some times of the record have a time zone, and some have none"
            ) from None
    known = [
        step.seconds for turn in trajectory.turns for step in turn.steps if step.seconds is not None
    ]
    return sum(known) if known else None
