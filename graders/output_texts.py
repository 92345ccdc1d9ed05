"""Graders of the output: the last message with which the agent answered.

Keywords, options and meaning are those of Vally (0.15).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from graders.text_searches import (
    CASE,
    NEGATE,
    NOT_NEGATE,
    PATTERN,
    SUBSTRING,
    VALUE,
    chosen_text,
    final_message,
    find_pattern,
    find_text,
    judge_output,
    lint_pattern,
    lint_text,
    quoted,
    refuse_double_negation,
    slashed,
)
from harness.types.grades import Grade
from harness.types.protocols import Reads, Subject
from harness.types.taxonomy import Taxonomy

_TAXONOMY = Taxonomy(reference="reference-free", scope="point-in-time")


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputContains:
    """Passes when the output contains a text, in upper or lower case.

    The output is the agent's last message of the last turn that is more than white space.
    """

    taxonomy: ClassVar[Taxonomy] = _TAXONOMY
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()

    substring: str | None = field(default=None, metadata=SUBSTRING)
    value: str | None = field(default=None, metadata=VALUE)
    case_sensitive: bool = field(default=False, metadata=CASE)
    negate: bool = field(default=False, metadata=NEGATE)

    def __post_init__(self) -> None:
        chosen_text(self.substring, self.value)

    def lint(self) -> Iterable[tuple[str, str]]:
        """Find an empty text."""
        return lint_text(chosen_text(self.substring, self.value))

    def grade(self, subject: Subject, /) -> Grade:
        """Look for the text."""
        wanted, output = chosen_text(self.substring, self.value), final_message(subject.trajectory)
        pieces = (output,) if output else ()
        found = find_text(pieces, wanted, case_sensitive=self.case_sensitive)
        return judge_output(found, output, f"contains {quoted(wanted)}", negate=self.negate)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputNotContains:
    """Passes when the output does not contain a text.

    The output is the agent's last message; without one the grader fails.
    """

    taxonomy: ClassVar[Taxonomy] = _TAXONOMY
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()

    substring: str | None = field(default=None, metadata=SUBSTRING)
    value: str | None = field(default=None, metadata=VALUE)
    case_sensitive: bool = field(default=False, metadata=CASE)
    negate: bool = field(default=True, metadata=NOT_NEGATE)

    def __post_init__(self) -> None:
        chosen_text(self.substring, self.value)
        refuse_double_negation(self.negate)

    def lint(self) -> Iterable[tuple[str, str]]:
        """Find an empty text."""
        return lint_text(chosen_text(self.substring, self.value))

    def grade(self, subject: Subject, /) -> Grade:
        """Look for the text."""
        wanted, output = chosen_text(self.substring, self.value), final_message(subject.trajectory)
        pieces = (output,) if output else ()
        found = find_text(pieces, wanted, case_sensitive=self.case_sensitive)
        return judge_output(found, output, f"contains {quoted(wanted)}", negate=self.negate)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputMatches:
    """Passes when a pattern matches somewhere in the output.

    The output is the agent's last message of the last turn that is more than white space.
    """

    taxonomy: ClassVar[Taxonomy] = _TAXONOMY
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()

    pattern: str = field(metadata=PATTERN)
    negate: bool = field(default=False, metadata=NEGATE)

    def lint(self) -> Iterable[tuple[str, str]]:
        """Find an invalid pattern."""
        return lint_pattern(self.pattern)

    def grade(self, subject: Subject, /) -> Grade:
        """Search the pattern."""
        output = final_message(subject.trajectory)
        found = find_pattern((output,) if output else (), self.pattern)
        what = f"matches pattern {slashed(self.pattern)}"
        return judge_output(found, output, what, negate=self.negate)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputNotMatches:
    """Passes when a pattern matches nowhere in the output.

    The output is the agent's last message; without one the grader fails.
    """

    taxonomy: ClassVar[Taxonomy] = _TAXONOMY
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()

    pattern: str = field(metadata=PATTERN)
    negate: bool = field(default=True, metadata=NOT_NEGATE)

    def __post_init__(self) -> None:
        refuse_double_negation(self.negate)

    def lint(self) -> Iterable[tuple[str, str]]:
        """Find an invalid pattern."""
        return lint_pattern(self.pattern)

    def grade(self, subject: Subject, /) -> Grade:
        """Search the pattern."""
        output = final_message(subject.trajectory)
        found = find_pattern((output,) if output else (), self.pattern)
        what = f"matches pattern {slashed(self.pattern)}"
        return judge_output(found, output, what, negate=self.negate)
