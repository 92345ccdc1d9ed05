"""Extractors that search what the agent said: for a pattern, for a marker.

They follow the extractors of the same names in letta-evals (0.3 to 0.26).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import regex

from graders.submissions import join_pieces, latest_messages, submission_of
from graders.text_searches import lint_pattern
from harness.system.patterns import compile_pattern, find_all, search
from harness.types.errors import GraderError
from harness.types.grades import Ref
from harness.types.protocols import Submission
from harness.types.trajectories import Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    r"""Extracts what a regular expression matches in the last message of the agent that it matches.

    Messages are searched from the last to the first. Nothing found, or a group that did not
    take part, gives an empty text.
    """

    pattern: str = field(metadata={"description": "Regular expression; no flags but its own."})
    group: int | str = field(
        default=0,
        metadata={
            "description": "Number or name of the group to extract; 0 is the whole match. With "
            "`search_all` and two or more groups the number counts the groups from 0; with "
            "fewer it is not used."
        },
    )
    search_all: bool = field(
        default=False,
        metadata={"description": "Extract every match in the message, joined by a space."},
    )

    def lint(self) -> Iterable[tuple[str, str]]:
        """Find an invalid pattern, and a group that it does not have."""
        problems = list(lint_pattern(self.pattern))
        yield from problems
        if not problems:
            try:
                self._group(compile_pattern(self.pattern))
            except GraderError as error:
                yield "group", str(error)

    def extract(self, trajectory: Trajectory, /) -> Submission:
        """Search the messages."""
        group = self._group(compile_pattern(self.pattern))
        for ref, text in latest_messages(trajectory):
            matches = self._matches(text)
            if matches:
                pieces = [(_within(ref, m.span(group)), m.group(group) or "") for m in matches]
                return join_pieces(pieces, " ")
        return Submission("")

    def _matches(self, text: str) -> list[regex.Match[str]]:
        if self.search_all:
            return find_all(self.pattern, text)
        first = search(self.pattern, text)
        return [] if first is None else [first]

    def _group(self, compiled: regex.Pattern[str]) -> int | str:
        """Return the group by the name or number that the match knows."""
        several = 2
        if self.search_all and compiled.groups < several:
            return compiled.groups
        group, allowed = self.group, compiled.groups
        if isinstance(group, str):
            if group in compiled.groupindex:
                return group
            raise GraderError(f"the pattern has no group called {group!r}")
        first = 1 if self.search_all else 0
        if not 0 <= group <= allowed - first:
            raise GraderError(f"the pattern has no group {group}; it has 0 to {allowed - first}")
        return group + first


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterMarker:
    """Extracts the text after the marker in the last message of the agent that contains it.

    The first occurrence in the message counts, case matters, and white space at the ends is
    stripped. No marker, or nothing after it, gives an empty text.
    """

    marker: str = field(metadata={"description": "Text to look for, such as `ANSWER: `."})
    include_marker: bool = field(
        default=False, metadata={"description": "Extract the marker too, not only what follows."}
    )

    def lint(self) -> Iterable[tuple[str, str]]:
        """Find an empty marker."""
        if not self.marker:
            yield "marker", "is empty: every text contains it"

    def extract(self, trajectory: Trajectory, /) -> Submission:
        """Look for the marker."""
        for ref, text in latest_messages(trajectory):
            at = text.find(self.marker)
            if at >= 0:
                tail = text[at if self.include_marker else at + len(self.marker) :]
                start = len(text) - len(tail.lstrip())
                found = tail.strip()
                return submission_of((_within(ref, (start, start + len(found))), found))
        return Submission("")


def _within(ref: Ref, span: tuple[int, int]) -> Ref:
    """Point at a span of a message; a group that did not take part has none, and is empty."""
    start, end = max(span[0], 0), max(span[1], 0)
    return Ref(turn=ref.turn, event=ref.event, start=start, end=end)
