"""Which results of tool calls are failures: those flagged so, and those that say so.

Many records have no flag. A text that begins with `Error:` or with a Python traceback is a failure
there too.
"""

from harness.system.patterns import search
from harness.types.events import ToolResult

FAILURE_PATTERN = r"\A\s*+(?:(?i:error|exception)\s*+:|Traceback \(most recent call last\):)"

_FIRST_LETTERS = frozenset("eET")
_LOOKED_AT = 1_000
"""Characters of an output in which the default pattern is searched: it is anchored at the start."""


def has_failed(result: ToolResult, pattern: str | None = FAILURE_PATTERN) -> bool:
    """Say whether a call failed; the pattern is searched in its output, None for no pattern.

    Raises:
        PatternError: the pattern is invalid.
        SlowPattern: the time limit has passed.
    """
    if not result.ok or pattern is None:
        return not result.ok
    if pattern != FAILURE_PATTERN:
        return search(pattern, result.output) is not None
    head = result.output[:_LOOKED_AT].lstrip()
    # Most outputs begin otherwise, and a search costs more than a look.
    return head[:1] in _FIRST_LETTERS and search(pattern, head) is not None
