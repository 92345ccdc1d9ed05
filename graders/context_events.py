"""Graders of what happened around the agent: `skill-invocation` and `system-event`.

Keywords, options and meaning are those of Vally (0.15).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from graders.event_places import MOST_REFS, placed_events
from graders.text_searches import quoted
from harness.system.texts import cut
from harness.types.events import Event, SystemEvent, ToolCall
from harness.types.grades import Grade, Ref
from harness.types.protocols import Reads, Subject
from harness.types.taxonomy import Taxonomy
from harness.types.trajectories import Trajectory

_TAXONOMY = Taxonomy(reference="reference-free", scope="trajectory-level")
_SKILL_ACTIVATION = "skill_activation"
_SKILL_TOOLS = ("skill", "Skill")
_SKILL_ARGUMENTS = ("skill", "name", "command")
_MOST_LISTED = 100
_SHOWN_CHARACTERS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillInvocation:
    """Passes when every required skill was activated, and no disallowed one.

    Names are compared exactly. A skill is activated by a system event of kind `skill_activation`
    whose `data` has its `name`, or by a call of a tool called `skill` whose argument `skill`,
    `name` or `command` is its name.
    """

    taxonomy: ClassVar[Taxonomy] = _TAXONOMY
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()
    expects_matches: ClassVar[bool] = True

    required: tuple[str, ...] = field(
        default=(), metadata={"description": "Names of skills that have to be activated."}
    )
    disallowed: tuple[str, ...] = field(
        default=(), metadata={"description": "Names of skills that must not be."}
    )

    def __post_init__(self) -> None:
        _refuse_nothing_and_overlap(self.required, self.disallowed)

    def grade(self, subject: Subject, /) -> Grade:
        """Look for the activations."""
        found = _first_places(subject.trajectory, _skill_of)
        return _judge(found, self.required, self.disallowed, words=("skills", "activated"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemEventKinds:
    """Passes when every required kind of system event occurred, and no disallowed one.

    Kinds are compared exactly, such as `compaction`; what they are called is the source's word.
    """

    taxonomy: ClassVar[Taxonomy] = _TAXONOMY
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()
    expects_matches: ClassVar[bool] = True

    required: tuple[str, ...] = field(
        default=(), metadata={"description": "Kinds of events that have to occur."}
    )
    disallowed: tuple[str, ...] = field(
        default=(), metadata={"description": "Kinds of events that must not."}
    )

    def __post_init__(self) -> None:
        _refuse_nothing_and_overlap(self.required, self.disallowed)

    def grade(self, subject: Subject, /) -> Grade:
        """Look for the events."""
        found = _first_places(subject.trajectory, _kind_of)
        return _judge(found, self.required, self.disallowed, words=("events", "seen"))


def _refuse_nothing_and_overlap(required: tuple[str, ...], disallowed: tuple[str, ...]) -> None:
    if not required and not disallowed:
        raise ValueError("there is nothing to check: give `required` or `disallowed`")
    both = [name for name in required if name in disallowed]
    if both:
        raise ValueError(f'"{both[0]}" is in `required` and in `disallowed`')


def _first_places(trajectory: Trajectory, name_of: Any) -> dict[str, Ref]:
    found: dict[str, Ref] = {}
    for ref, event in placed_events(trajectory):
        for name in name_of(event):
            found.setdefault(name, ref)
    return found


def _kind_of(event: Event) -> Iterator[str]:
    if isinstance(event, SystemEvent):
        yield event.kind


def _skill_of(event: Event) -> Iterator[str]:
    if isinstance(event, SystemEvent) and event.kind == _SKILL_ACTIVATION:
        name = event.data.get("name") if isinstance(event.data, Mapping) else event.text
        if isinstance(name, str):
            yield name
    elif isinstance(event, ToolCall) and event.name in _SKILL_TOOLS:
        given = event.arguments if isinstance(event.arguments, Mapping) else {}
        yield from (v for key in _SKILL_ARGUMENTS if isinstance(v := given.get(key), str))


def _judge(
    found: Mapping[str, Ref],
    required: tuple[str, ...],
    disallowed: tuple[str, ...],
    *,
    words: tuple[str, str],
) -> Grade:
    things, happened = words
    missing = [name for name in dict.fromkeys(required) if name not in found]
    refused = [name for name in dict.fromkeys(disallowed) if name in found]
    parts = []
    if required:
        parts.append(
            f"The following required {things} were not {happened}: {', '.join(missing)}"
            if missing
            else f"All required {things} were {happened}"
        )
    parts.append(
        f"The following disallowed {things} were {happened}: {', '.join(refused)}"
        if refused
        else f"No disallowed {things} were {happened}"
    )
    pointed = refused if missing or refused else required
    details: dict[str, Any] = {
        "required": list(required),
        "disallowed": list(disallowed),
        "found": [cut(name, _SHOWN_CHARACTERS) for name in list(found)[:_MOST_LISTED]],
    }
    if disallowed:
        unmatched = [name for name in dict.fromkeys(disallowed) if name not in found]
        details["unmatched"] = [f"disallowed {quoted(name)}" for name in unmatched]
    return Grade(
        score=float(not missing and not refused),
        evidence=". ".join(parts),
        refs=tuple(found[name] for name in dict.fromkeys(pointed))[:MOST_REFS],
        details=details,
    )
