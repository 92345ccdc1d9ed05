"""Notes inside a tool output which say that a part of it was cut out before the agent saw it.

`[... 4096 characters truncated ...]` is the harness of the agent speaking, not the tool: a value
found in such a note is no tool output.
"""

import re
from bisect import bisect_right

_NOTE = re.compile(
    r"\[?(?:\.{3}|…) ?\d[\d,]{0,15} (?:more )?(?:characters|chars|bytes|lines|rows|tokens|items) "
    r"(?:truncated|omitted|elided)(?: ?(?:\.{3}|…))?\]?"
)


class CutNotes:
    """The notes in one tool output; finding them takes time proportional to its length."""

    def __init__(self, output: str) -> None:
        cut = any(word in output for word in ("truncated", "omitted", "elided"))
        spans = [note.span() for note in _NOTE.finditer(output)] if cut else []
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    @property
    def found(self) -> bool:
        """Say whether there is any note."""
        return bool(self._starts)

    def touch(self, start: int, end: int) -> bool:
        """Say whether characters `start` to `end` of the output touch a note."""
        following = bisect_right(self._ends, start)
        return following < len(self._starts) and self._starts[following] < end


def without_notes(output: str) -> tuple[str, bool]:
    """Return an output without the notes in it, and whether there were any."""
    if not CutNotes(output).found:
        return output, False
    return _NOTE.sub(" ", output), True
