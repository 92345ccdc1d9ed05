"""Graders of all that the agent said, message by message.

Keywords, options and meaning are those of Vally (0.15).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from graders.submissions import assistant_messages
from graders.text_searches import (
    CASE,
    NEGATE,
    NOT_NEGATE,
    PATTERN,
    SUBSTRING,
    VALUE,
    chosen_text,
    find_pattern,
    find_text,
    judge_transcript,
    lint_pattern,
    lint_text,
    quoted,
    refuse_double_negation,
    slashed,
)
from harness.types.grades import Grade
from harness.types.protocols import Reads, Subject
from harness.types.taxonomy import Taxonomy

_TAXONOMY = Taxonomy(reference="reference-free", scope="trajectory-level")


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptContains:
    """Passes when any assistant message contains a text, in upper or lower case.

    Each message is looked at alone: a text that spreads over two of them is not found.
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
        wanted = chosen_text(self.substring, self.value)
        said = tuple(assistant_messages(subject.trajectory))
        found = find_text(said, wanted, case_sensitive=self.case_sensitive)
        what = f"contains {quoted(wanted)}"
        return judge_transcript(found, what, negate=self.negate, messages=len(said))


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptNotContains:
    """Passes when no assistant message contains a text.

    Each message is looked at alone. Without any message the grader fails.
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
        wanted = chosen_text(self.substring, self.value)
        said = tuple(assistant_messages(subject.trajectory))
        found = find_text(said, wanted, case_sensitive=self.case_sensitive)
        what = f"contains {quoted(wanted)}"
        return judge_transcript(found, what, negate=self.negate, messages=len(said))


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptMatches:
    """Passes when a pattern matches in any assistant message.

    Each message is looked at alone: what spreads over two of them does not match.
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
        said = tuple(assistant_messages(subject.trajectory))
        found = find_pattern(said, self.pattern)
        what = f"matches pattern {slashed(self.pattern)}"
        return judge_transcript(found, what, negate=self.negate, messages=len(said))


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptNotMatches:
    """Passes when a pattern matches in no assistant message.

    Each message is looked at alone. Without any message the grader fails.
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
        said = tuple(assistant_messages(subject.trajectory))
        found = find_pattern(said, self.pattern)
        what = f"matches pattern {slashed(self.pattern)}"
        return judge_transcript(found, what, negate=self.negate, messages=len(said))
