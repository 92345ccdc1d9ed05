"""Notes inside a tool output which say that a part of it was cut out before the agent saw it.

`[... 4096 characters truncated ...]` is the harness of the agent speaking, not the tool: a value
found in such a note is no tool output.
"""

import re

_NOTE = re.compile(
    r"\[?(?:\.{3}|…) ?\d[\d,]{0,15} (?:more )?(?:characters|chars|bytes|lines|rows|tokens|items) "
    r"(?:truncated|omitted|elided)(?: ?(?:\.{3}|…))?\]?"
)


def in_cut_note(output: str, start: int, end: int) -> bool:
    """Say whether characters `start` to `end` of a tool output touch a note that it was cut."""
    if not any(word in output for word in ("truncated", "omitted", "elided")):
        return False
    return any(note.start() < end and start < note.end() for note in _NOTE.finditer(output))
