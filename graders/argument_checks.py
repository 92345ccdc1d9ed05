"""The grader `tool-arguments`: with what arguments a tool was called."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from graders.event_places import MOST_REFS, placed_calls
from graders.json_comparison import Mode, Rule, lint_structure
from graders.text_searches import quoted
from graders.tool_names import is_named
from harness.types.grades import Grade
from harness.types.protocols import Reads, Subject
from harness.types.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolArgumentsCheck:
    """Passes when a call of a tool has the arguments that are expected.

    `equals` asks for these arguments and no others; `contains` for these at least, objects and
    lists inside them alike; `matches` for these at least, where every expected text is a regular
    expression on what was given. `true` is no number, and `1` is `1.0`.
    """

    taxonomy: ClassVar[Taxonomy] = Taxonomy(reference="reference-based", scope="trajectory-level")
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()
    json_numbers: ClassVar[bool] = True

    tools: tuple[str, ...] = field(
        metadata={
            "min_length": 1,
            "description": "Exact names of the tools whose calls count. An entry also stands for "
            "every name that begins with the entry and a dot.",
        }
    )
    arguments: Any = field(metadata={"description": "The arguments that are expected."})
    compare: Mode = field(
        default="equals",
        metadata={"description": "How they are compared: `equals`, `contains` or `matches`."},
    )
    tolerance: float = field(
        default=0.0, metadata={"ge": 0, "description": "How far numbers may differ."}
    )
    ignore_order: bool = field(
        default=False, metadata={"description": "Let the items of lists stand in any order."}
    )
    require: Literal["any", "all"] = field(
        default="any",
        metadata={"description": "Whether one call has to have them (`any`), or each (`all`)."},
    )

    def lint(self) -> Iterable[tuple[str, str]]:
        """Find invalid patterns."""
        return lint_structure(self.arguments, "arguments") if self.compare == "matches" else ()

    def grade(self, subject: Subject, /) -> Grade:
        """Compare the calls."""
        rule = Rule(mode=self.compare, tolerance=self.tolerance, ignore_order=self.ignore_order)
        names = ", ".join(map(quoted, self.tools))
        calls = [
            (ref, call)
            for ref, call in placed_calls(subject.trajectory)
            if is_named(call.name, self.tools)
        ]
        if not calls:
            return Grade(score=0.0, evidence=f"{names} was not called")
        found = [(ref, rule.difference(self.arguments, call.arguments)) for ref, call in calls]
        good = [ref for ref, difference in found if difference is None]
        bad = [(ref, difference) for ref, difference in found if difference is not None]
        if not bad or (good and self.require == "any"):
            evidence = f"{len(good)} of {len(calls)} call(s) of {names} have these arguments"
            return Grade(score=1.0, evidence=evidence, refs=tuple(good[:MOST_REFS]))
        counted = f"{len(good)} of {len(calls)} call(s) of {names} have these arguments"
        return Grade(
            score=0.0,
            evidence=f"{counted}; {bad[0][1].line}",
            refs=tuple(ref for ref, _ in bad[:MOST_REFS]),
        )
