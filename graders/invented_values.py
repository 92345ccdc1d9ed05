"""The grader `no-invented-values`: what the agent names has to come from somewhere.

It is the converse of `assistant-contains-tool-output`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from graders.event_places import MOST_REFS, placed_events
from graders.json_escapes import readings
from graders.text_searches import lint_pattern, quoted, slashed
from graders.token_bounds import find_whole
from harness.system.patterns import check_size, compile_pattern, find_all
from harness.types.events import AssistantMessage, ToolResult, UserMessage
from harness.types.grades import Grade, Ref
from harness.types.protocols import Reads, Subject
from harness.types.taxonomy import Taxonomy

_MOST_NAMED = 20
_MOST_INVENTED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class NoInventedValues:
    r"""Passes when every value of a pattern that the agent tells was seen before it was told.

    The pattern is searched in every message of the agent; its group 1, or the whole match where
    it has no group, is the value. It was seen where it stands as a whole (`42` not in `421`) in an
    earlier tool output, in what the user said, in the sample's `history`, or in `known`, also with
    the escapes of JSON (`\u00e9`, `\/`) decoded. What the agent itself said, thought or asked tools
    for is no source. With `turn`, only that turn is seen.
    """

    taxonomy: ClassVar[Taxonomy] = Taxonomy(reference="reference-free", scope="trajectory-level")
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ("history",)

    pattern: str = field(
        metadata={
            "description": "Regular expression of the values, such as `rt_[0-9a-f]{16}`; the value "
            "is group 1 if the pattern has a group, else the whole match."
        }
    )
    known: tuple[str, ...] = field(
        default=(),
        metadata={"description": "Texts that the agent knows besides, such as its instructions."},
    )

    def lint(self) -> Iterable[tuple[str, str]]:
        """Find an invalid pattern."""
        return lint_pattern(self.pattern)

    def grade(self, subject: Subject, /) -> Grade:
        """Follow the conversation, and remember what was seen."""
        compile_pattern(self.pattern)
        sources = _Sources(self.pattern)
        for text in (*self.known, *_texts_of(subject.sample.history)):
            sources.add(text)
        findings = _Findings(set(), {})
        for ref, event in placed_events(subject.trajectory):
            if isinstance(event, UserMessage):
                sources.add(event.text)
            elif isinstance(event, ToolResult):
                sources.add(event.output)
            elif isinstance(event, AssistantMessage):
                self._look_at(event.text, ref, sources, findings)
        return self._judged(*findings)

    def _look_at(self, text: str, ref: Ref, sources: "_Sources", findings: "_Findings") -> None:
        """Add the values of one message to those that were told, and to the invented ones."""
        told, invented = findings
        for value, start, end in _values(self.pattern, text):
            if len(invented) == _MOST_INVENTED:
                return
            told.add(value)
            if value not in invented and not sources.hold(value):
                invented[value] = Ref(turn=ref.turn, event=ref.event, start=start, end=end)

    def _judged(self, told: set[str], invented: Mapping[str, Ref]) -> Grade:
        if not invented:
            evidence = f"All {len(told)} value(s) of {slashed(self.pattern)} were seen before"
            return Grade(score=1.0, evidence=evidence)
        values = list(invented)
        named = ", ".join(map(quoted, values[:_MOST_NAMED]))
        more = f" and {len(values) - _MOST_NAMED} more" if len(values) > _MOST_NAMED else ""
        stopped = " or more" if len(values) >= _MOST_INVENTED else ""
        return Grade(
            score=0.0,
            evidence=f"The agent invented {len(values)}{stopped} value(s): {named}{more}",
            refs=tuple(invented.values())[:MOST_REFS],
            details={"invented": [value[:1_000] for value in values]},
        )


class _Findings(NamedTuple):
    """The values that were told, and where each was told that had not been seen."""

    told: set[str]
    invented: dict[str, Ref]


class _Sources:
    """What was seen so far, and the values of the pattern in it."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._texts: list[str] = []
        self._values: set[str] = set()

    def add(self, text: str) -> None:
        for reading in readings(text) if text else ():
            self._texts.append(reading)
            self._values.update(value for value, _, _ in _values(self._pattern, reading))

    def hold(self, value: str) -> bool:
        """Say whether a value was seen; the pattern may need a context that its source has not."""
        if value in self._values:
            return True
        if any(find_whole(value, text) for text in self._texts):
            self._values.add(value)
            return True
        return False


def _values(pattern: str, text: str) -> Iterator[tuple[str, int, int]]:
    check_size(pattern, len(text), what="pattern")
    for match in find_all(pattern, text):
        group = 1 if match.re.groups else 0
        value = match.group(group)
        if value:
            yield value, match.start(group), match.end(group)


def _texts_of(value: Any) -> Iterator[str]:
    """Return every text in messages, whatever their shape."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts_of(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts_of(inner)
