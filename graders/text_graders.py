"""Graders of a text: compare the submission with the sample's `ground_truth`, or look at it alone.

Scores and texts are those of the functions of the same names in letta-evals (0.2 to 0.26), so
that its suites give the same grades.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from graders.submissions import refs_of_span
from harness.system.patterns import PatternError, compile_pattern, search
from harness.types.errors import GraderError
from harness.types.grades import Grade
from harness.types.protocols import Reads, Subject, Submission
from harness.types.samples import Sample
from harness.types.taxonomy import Taxonomy

_REFERENCE_BASED = Taxonomy(reference="reference-based", scope="point-in-time")
_PRINTABLE = frozenset(map(chr, range(32, 127)))
_SHOWN_CHARACTERS = 5


@dataclass(frozen=True, slots=True)
class ExactMatch:
    """Passes when the submission equals the ground truth, white space at the ends aside.

    Case matters. A sample without a ground truth never passes.
    """

    taxonomy: ClassVar[Taxonomy] = _REFERENCE_BASED
    reads: ClassVar[Reads] = "submission"
    uses: ClassVar[tuple[str, ...]] = ()

    def grade(self, subject: Subject, /) -> Grade:
        """Compare the two texts."""
        submission, expected = _submitted(subject), _expected(subject.sample)
        if not expected:
            return _failed("No ground_truth answer provided", submission)
        matched = submission.text.strip() == expected.strip()
        return Grade(score=float(matched), evidence=f"Exact match: {matched}", refs=submission.refs)


@dataclass(frozen=True, slots=True)
class Contains:
    """Passes when the submission contains the ground truth, in upper or lower case.

    Both texts are lower-cased and otherwise compared character by character: white space around
    the ground truth counts, and a number is found inside a longer one. A sample without a ground
    truth never passes.
    """

    taxonomy: ClassVar[Taxonomy] = _REFERENCE_BASED
    reads: ClassVar[Reads] = "submission"
    uses: ClassVar[tuple[str, ...]] = ()

    def grade(self, subject: Subject, /) -> Grade:
        """Look for the ground truth."""
        submission, expected = _submitted(subject), _expected(subject.sample)
        if not expected:
            return _failed("No ground_truth answer provided", submission)
        text, wanted = submission.text.lower(), expected.lower()
        at = text.find(wanted)
        if at < 0:
            return _failed("Contains ground_truth: False", submission)
        # Some capital letters are longer in lower case: then positions are no longer the same.
        same = len(text) == len(submission.text)
        refs = refs_of_span(submission, start=at, end=at + len(wanted)) if same else submission.refs
        return Grade(score=1.0, evidence="Contains ground_truth: True", refs=refs)


@dataclass(frozen=True, slots=True)
class RegexMatch:
    r"""Passes when the ground truth, a regular expression, matches somewhere in the submission.

    Syntax and flags are Python's: no flag is set unless the pattern sets it, as in `(?i)yes`;
    `^` and `$` are the ends of the whole text. An invalid pattern fails and says so; one that
    runs too long is an error.
    """

    taxonomy: ClassVar[Taxonomy] = _REFERENCE_BASED
    reads: ClassVar[Reads] = "submission"
    uses: ClassVar[tuple[str, ...]] = ()

    def grade(self, subject: Subject, /) -> Grade:
        """Search the pattern."""
        submission, pattern = _submitted(subject), _expected(subject.sample)
        if not pattern:
            return _failed("No ground_truth regex pattern provided", submission)
        try:
            match = search(pattern, submission.text)
        except PatternError as error:
            return _failed(f"Invalid regex pattern: {error}", submission)
        if match is None:
            return _failed("Regex match: False", submission)
        refs = refs_of_span(submission, start=match.start(), end=match.end())
        return Grade(score=1.0, evidence="Regex match: True", refs=refs)

    def lint_sample(self, sample: Sample, /) -> Iterable[tuple[str, str]]:
        """Find ground truths that are invalid patterns."""
        expected = sample.ground_truth
        for pattern in (expected,) if isinstance(expected, str) else expected or ():
            try:
                compile_pattern(pattern)
            except PatternError as error:
                yield "ground_truth", f"invalid pattern: {error}"


@dataclass(frozen=True, slots=True)
class AsciiPrintableOnly:
    """Passes when every character of the submission is printable ASCII (codes 32 to 126).

    Line feeds and carriage returns are not checked; a tab is not printable. The ground truth is
    not used.
    """

    taxonomy: ClassVar[Taxonomy] = Taxonomy(reference="reference-free", scope="point-in-time")
    reads: ClassVar[Reads] = "submission"
    uses: ClassVar[tuple[str, ...]] = ()

    def grade(self, subject: Subject, /) -> Grade:
        """Look for other characters."""
        submission = _submitted(subject)
        others = sorted(set(submission.text) - _PRINTABLE - {"\n", "\r"})
        if not others:
            return Grade(
                score=1.0,
                evidence="All characters printable ASCII (ignoring newlines)",
                refs=submission.refs,
            )
        shown = ", ".join(map(repr, others[:_SHOWN_CHARACTERS]))
        more = len(others) - _SHOWN_CHARACTERS
        tail = f" (+{more} more)" if more > 0 else ""
        at = min(map(submission.text.index, others))
        return Grade(
            score=0.0,
            evidence=f"Found non-printable ASCII characters: {shown}{tail}",
            refs=refs_of_span(submission, start=at, end=at + 1),
        )


def _submitted(subject: Subject) -> Submission:
    if subject.submission is None:
        raise GraderError("there is no submission: the grader needs an extractor")
    return subject.submission


def _expected(sample: Sample) -> str | None:
    expected = sample.ground_truth
    if expected is None or isinstance(expected, str):
        return expected
    raise GraderError(
        f"ground_truth is a list of {len(expected)} texts, and the grader compares with one text;"
        " give `input` as a list of as many prompts to have each turn graded"
    )


def _failed(evidence: str, submission: Submission) -> Grade:
    return Grade(score=0.0, evidence=evidence, refs=submission.refs)
