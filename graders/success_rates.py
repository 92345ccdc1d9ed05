"""The grader `tool-success-rate`: how many of the agent's tool calls went well."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from graders.call_records import CallRecord, call_records
from graders.event_places import MOST_REFS
from graders.failed_results import FAILURE_PATTERN, has_failed
from graders.text_searches import lint_pattern
from graders.tool_names import NamePatterns, lint_patterns
from harness.system.numbers import reaches
from harness.types.grades import Grade
from harness.types.protocols import Reads, Subject
from harness.types.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSuccessRate:
    """Passes when the share of tool calls that went well is high enough; it is the score.

    It is enough from `min` on, or where that is left out, from the `threshold` of the entry on: 1.

    A call failed where its result is flagged so or matches `failure_pattern`, and where it has no
    result. A conversation without any such call is skipped.
    """

    taxonomy: ClassVar[Taxonomy] = Taxonomy(reference="reference-free", scope="trajectory-level")
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()
    threshold_option: ClassVar[str] = "min"

    min: float | None = field(
        default=None,
        metadata={
            "ge": 0,
            "le": 1,
            "description": "The least share that passes, in place of the entry's `threshold`.",
        },
    )
    tools: tuple[str, ...] = field(
        default=(),
        metadata={
            "description": "Regular expressions; only calls of tools whose name one of them "
            "matches count. Without them all do."
        },
    )
    failure_pattern: str | None = field(
        default=FAILURE_PATTERN,
        metadata={
            "description": "Regular expression on outputs that makes a call a failed one; null "
            "trusts the flags of the record alone."
        },
    )

    def lint(self) -> Iterable[tuple[str, str]]:
        """Find invalid patterns."""
        yield from lint_patterns(self.tools)
        if self.failure_pattern is not None:
            yield from lint_pattern(self.failure_pattern, "failure_pattern")

    def grade(self, subject: Subject, /) -> Grade:
        """Count the calls."""
        watched = NamePatterns(self.tools)
        calls = [one for one in call_records(subject.trajectory) if watched.match(one.call.name)]
        if not calls:
            return Grade(status="skipped", evidence="There is no tool call")
        failed = [record for record in calls if not self._went_well(record)]
        rate = (len(calls) - len(failed)) / len(calls)
        refs = [record.results[-1][0] if record.results else record.ref for record in failed]
        asked = "" if self.min is None else f", at least {self.min:.1%} is asked for"
        counted = f"{len(calls) - len(failed)} of {len(calls)} tool calls went well"
        return Grade(
            score=rate,
            passed=None if self.min is None else reaches(rate, self.min),
            evidence=f"{counted} ({rate:.1%}{asked})",
            refs=tuple(refs[:MOST_REFS]),
        )

    def _went_well(self, record: CallRecord) -> bool:
        results = [result for _, result in record.results]
        return bool(results) and not has_failed(results[-1], self.failure_pattern)
