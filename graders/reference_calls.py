"""The grader `trajectory-match`: the agent's calls beside a list of reference calls."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from graders.call_matching import ReferenceCall, agree, first_missing, first_surplus
from graders.event_places import MOST_REFS, placed_calls
from graders.json_comparison import Rule, lint_structure, shown
from graders.text_searches import quoted
from graders.tool_names import is_named
from harness.types.events import ToolCall
from harness.types.grades import Grade, Ref
from harness.types.protocols import Reads, Subject
from harness.types.taxonomy import Taxonomy

_Placed = tuple[Ref, ToolCall]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryMatch:
    """Passes when the agent's calls are those of a list of reference calls.

    `strict`: the same calls in the same order. `unordered`: the same calls in any order.
    `superset`: all reference calls, and maybe others. `subset`: no others than reference calls.
    Each call stands for one reference call. Arguments are compared as `arguments` says, unless a
    reference call names none.
    """

    taxonomy: ClassVar[Taxonomy] = Taxonomy(reference="reference-based", scope="trajectory-level")
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()
    json_numbers: ClassVar[bool] = True

    calls: tuple[ReferenceCall | str, ...] = field(
        metadata={
            "description": "The reference calls: names of tools, or objects with `name` and "
            "`arguments`."
        }
    )
    mode: Literal["strict", "unordered", "subset", "superset"] = field(
        default="strict", metadata={"description": "How the two lists are compared."}
    )
    arguments: Literal["equals", "contains", "matches", "ignored"] = field(
        default="equals",
        metadata={
            "description": "How arguments are compared, as `tool-arguments` does it, or `ignored`."
        },
    )
    tolerance: float = field(
        default=0.0, metadata={"ge": 0, "description": "How far numbers may differ."}
    )
    ignore_order: bool = field(
        default=False, metadata={"description": "Let the items of lists stand in any order."}
    )
    tools: tuple[str, ...] = field(
        default=(),
        metadata={
            "description": "Exact names, or namespaces, of the tools whose calls are compared; "
            "without them all are."
        },
    )

    def lint(self) -> Iterable[tuple[str, str]]:
        """Find invalid patterns."""
        for entry in self._references() if self.arguments == "matches" else ():
            yield from lint_structure(entry.arguments, "calls")

    def grade(self, subject: Subject, /) -> Grade:
        """Compare the two lists."""
        references = self._references()
        calls = [
            (ref, call)
            for ref, call in placed_calls(subject.trajectory)
            if is_named(call.name, self.tools)
        ]
        compare = {
            "strict": self._in_order,
            "unordered": self._in_any_order,
            "superset": self._missing,
            "subset": self._surplus,
        }[self.mode]
        problem = compare(references, calls)
        counted = f"{len(calls)} call(s), {len(references)} reference call(s), {self.mode}"
        if problem is None:
            refs = tuple(ref for ref, _ in calls[:MOST_REFS])
            return Grade(score=1.0, evidence=f"The calls match the reference: {counted}", refs=refs)
        evidence, refs = problem
        return Grade(score=0.0, evidence=f"{evidence}: {counted}", refs=refs)

    def _references(self) -> tuple[ReferenceCall, ...]:
        return tuple(ReferenceCall(name=one) if isinstance(one, str) else one for one in self.calls)

    @property
    def _rule(self) -> Rule | None:
        """Return how arguments are compared; None where they are not."""
        if self.arguments == "ignored":
            return None
        return Rule(mode=self.arguments, tolerance=self.tolerance, ignore_order=self.ignore_order)

    def _in_order(
        self, references: Sequence[ReferenceCall], calls: Sequence[_Placed]
    ) -> tuple[str, tuple[Ref, ...]] | None:
        for index, (reference, (ref, call)) in enumerate(zip(references, calls, strict=False)):
            if not agree(self._rule, reference, call):
                problem = f"Call {index} is {_text(call)}, not {quoted(reference.text)}"
                return problem, (ref,)
        return self._of_lengths(references, calls)

    def _of_lengths(
        self, references: Sequence[ReferenceCall], calls: Sequence[_Placed]
    ) -> tuple[str, tuple[Ref, ...]] | None:
        if len(calls) > len(references):
            ref, call = calls[len(references)]
            return f"{_text(call)} is not in the reference", (ref,)
        if len(calls) < len(references):
            return f"{quoted(references[len(calls)].text)} was not called", ()
        return None

    def _in_any_order(
        self, references: Sequence[ReferenceCall], calls: Sequence[_Placed]
    ) -> tuple[str, tuple[Ref, ...]] | None:
        # Of equally many, a match of all of one side is one of all of the other.
        if len(calls) > len(references):
            return self._surplus(references, calls)
        return self._missing(references, calls)

    def _missing(
        self, references: Sequence[ReferenceCall], calls: Sequence[_Placed]
    ) -> tuple[str, tuple[Ref, ...]] | None:
        alone = first_missing(self._rule, references, [call for _, call in calls])
        return None if alone is None else (f"{quoted(references[alone].text)} was not called", ())

    def _surplus(
        self, references: Sequence[ReferenceCall], calls: Sequence[_Placed]
    ) -> tuple[str, tuple[Ref, ...]] | None:
        alone = first_surplus(self._rule, references, [call for _, call in calls])
        if alone is None:
            return None
        ref, call = calls[alone]
        return f"{_text(call)} is not in the reference", (ref,)


def _text(call: ToolCall) -> str:
    return quoted(f"{call.name}{shown(call.arguments)}")
