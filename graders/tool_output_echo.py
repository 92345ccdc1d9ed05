"""The grader `assistant-contains-tool-output`: did the agent say what its tool returned?

Rules and texts are those of Vally's grader of that name (0.13), made exact where its
documentation is silent; `all_matches` and `require` are ours.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, ClassVar, Literal, NamedTuple

import regex

from graders.cut_notes import CutNotes
from graders.text_searches import lint_pattern
from graders.value_search import ValueSearch
from harness.system.patterns import PatternError, check_time, compile_pattern, find_all, search
from harness.types.events import AssistantMessage, ToolResult
from harness.types.grades import Grade, Ref
from harness.types.protocols import Reads, Subject
from harness.types.taxonomy import Taxonomy
from harness.types.trajectories import Trajectory

_MOST_LISTED = 100
_MOST_CHARACTERS = 2_000


class _Capture(NamedTuple):
    """A value that a tool returned; `said_before` counts the assistant messages before it."""

    value: str
    ref: Ref
    said_before: int


class _Findings(NamedTuple):
    """What a conversation holds: the tools' results, the values in them, and what was said."""

    results: list[Ref]
    captures: list[_Capture]
    messages: list[tuple[int, int, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantContainsToolOutput:
    r"""Passes when the agent tells the user a value that one of its tools returned.

    The pattern is searched in the output of every result of the tools, in order; its group 1,
    or the whole match where it has no group, is the captured value. The grader passes when a
    later message of the agent contains a captured value, character by character. Results are paired
    with their calls by id; results of failed calls count like any other. A note that the output
    was cut (`[... 4096 characters truncated ...]`) is no tool output.
    """

    taxonomy: ClassVar[Taxonomy] = Taxonomy(reference="reference-free", scope="trajectory-level")
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()

    tools: tuple[str, ...] = field(
        metadata={
            "description": "Names of the tools whose results count. An entry also stands for "
            "every name that begins with the entry and a dot: `catalog` for `catalog.lookup`."
        }
    )
    pattern: str = field(
        metadata={
            "description": "Regular expression that is searched in the tool's output. The value "
            "is group 1 if the pattern has a group, else the whole match."
        }
    )
    all_matches: bool = field(
        default=False,
        metadata={"description": "Capture every match of an output, not only the first."},
    )
    require: Literal["any", "all"] = field(
        default="any",
        metadata={
            "description": "Whether one captured value that the agent repeats is enough (`any`), "
            "or each must be repeated (`all`)."
        },
    )

    def lint(self) -> Iterable[tuple[str, str]]:
        """Find options that cannot work."""
        if not self.tools:
            yield "tools", "is empty: no result can count"
        yield from lint_pattern(self.pattern)

    def grade(self, subject: Subject, /) -> Grade:
        """Look for the values that the tools returned in what the agent said afterwards."""
        try:
            compile_pattern(self.pattern)
        except PatternError as error:
            return Grade(score=0.0, evidence=f"invalid pattern: {error}")
        findings = self._find(subject.trajectory)
        if findings.captures:
            return self._judge(findings)
        names = ", ".join(f'"{name}"' for name in self.tools)
        evidence = f"no {names} output matched {_quoted(self.pattern)}"
        return Grade(score=0.0, evidence=evidence, refs=tuple(findings.results[:_MOST_LISTED]))

    def _judge(self, findings: _Findings) -> Grade:
        captures, one_is_enough = findings.captures, self.require == "any"
        echoes = list(islice(self._echoes(findings), 1 if one_is_enough else None))
        details = _details(captures, [capture for capture, _ in echoes])
        of_all = "" if one_is_enough else f" of {len(captures)}"
        if echoes and (one_is_enough or len(echoes) == len(captures)):
            which = f'captured value "{echoes[0][0].value}"'
            if not one_is_enough:
                which = f"all{of_all} captured value(s)"
            refs = [ref for capture, echo in echoes[:_MOST_LISTED] for ref in (capture.ref, echo)]
            evidence = f"assistant echoed {which}"
            return Grade(score=1.0, evidence=evidence, refs=tuple(refs), details=details)
        echoed = {capture.value for capture, _ in echoes}
        missing = [capture for capture in captures if capture.value not in echoed]
        evidence = f"assistant did not echo {len(missing)}{of_all} captured value(s)"
        refs = [capture.ref for capture in missing[:_MOST_LISTED]]
        return Grade(score=0.0, evidence=evidence, refs=tuple(refs), details=details)

    def _find(self, trajectory: Trajectory) -> _Findings:
        findings = _Findings([], [], [])
        values: set[str] = set()
        for t, turn in enumerate(trajectory.turns):
            for e, event in enumerate(turn.events):
                if isinstance(event, AssistantMessage):
                    findings.messages.append((t, e, event.text))
                elif isinstance(event, ToolResult) and self._counts(event.name):
                    findings.results.append(Ref(turn=t, event=e))
                    for value, start, end in self._values(event.output):
                        check_time(self.pattern)
                        # The first place of a value is enough: what follows a later one follows it.
                        if value not in values:
                            values.add(value)
                            ref = Ref(turn=t, event=e, start=start, end=end)
                            said_before = len(findings.messages)
                            findings.captures.append(_Capture(value, ref, said_before))
        return findings

    def _counts(self, name: str | None) -> bool:
        if name is None:
            return False
        return name in self.tools or any(name.startswith(f"{entry}.") for entry in self.tools)

    def _values(self, output: str) -> Iterator[tuple[str, int, int]]:
        for match in self._matches(output):
            group = 1 if match.re.groups else 0
            value = match.group(group)
            if value:
                yield value, match.start(group), match.end(group)

    def _matches(self, output: str) -> list[regex.Match[str]]:
        first = search(self.pattern, output)
        if first is None:
            return []
        notes = CutNotes(output)
        check_time(self.pattern)
        if not self.all_matches and not notes.touch(*first.span()):
            return [first]
        found = find_all(self.pattern, output)
        matches = [match for match in found if not notes.touch(*match.span())]
        return matches if self.all_matches else matches[:1]

    def _echoes(self, findings: _Findings) -> Iterator[tuple[_Capture, Ref]]:
        """Return every capture that is echoed, with the place of its first echo."""
        captures, found = findings.captures, dict[str, Ref]()
        waiting, search = deque(captures), ValueSearch()
        for index, (t, e, text) in enumerate(findings.messages):
            while waiting and waiting[0].said_before <= index:
                search.add(waiting.popleft().value)
            for value, (start, end) in search.find_in(text).items():
                found[value] = Ref(turn=t, event=e, start=start, end=end)
            if self.require == "any" and captures[0].value in found:
                break
        return ((one, found[one.value]) for one in captures if one.value in found)


def _quoted(pattern: str) -> str:
    escaped = pattern.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _details(captures: list[_Capture], echoed: list[_Capture]) -> dict[str, Any]:
    """List the values, shortened: the refs point at them in full."""
    details: dict[str, Any] = {"captured": _listed(captures), "echoed": _listed(echoed)}
    if len(captures) > _MOST_LISTED:
        details["captured_count"] = len(captures)
    return details


def _listed(captures: list[_Capture]) -> list[str]:
    return [_bounded(capture.value) for capture in captures[:_MOST_LISTED]]


def _bounded(value: str) -> str:
    if len(value) <= _MOST_CHARACTERS:
        return value
    return f"{value[:_MOST_CHARACTERS]}… ({len(value):,} characters)"
