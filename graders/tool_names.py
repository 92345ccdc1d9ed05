"""Which tools a grader looks at: by patterns on their names, or by the names themselves."""

from collections.abc import Iterable

from graders.text_searches import lint_pattern
from harness.system.patterns import search


class NamePatterns:
    """Patterns on tool names, unanchored, any of which may match; none let every tool pass.

    A name is searched once, however often it occurs.
    """

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._patterns = patterns
        self._known: dict[str, bool] = {}

    def match(self, name: str) -> bool:
        """Say whether a tool is looked at.

        Raises:
            PatternError: a pattern is invalid.
            SlowPattern: the time limit has passed.
        """
        known = self._known.get(name)
        if known is None:
            known = not self._patterns or any(search(one, name) for one in self._patterns)
            self._known[name] = known
        return known


def is_named(name: str | None, entries: tuple[str, ...]) -> bool:
    """Say whether a tool has one of the names, or stands in a namespace that has.

    `catalog` stands for `catalog` and `catalog.lookup`; without entries every named tool counts.
    """
    if name is None:
        return False
    return not entries or name in entries or any(name.startswith(f"{one}.") for one in entries)


def lint_patterns(patterns: Iterable[str], option: str = "tools") -> Iterable[tuple[str, str]]:
    """Find invalid patterns."""
    for pattern in patterns:
        yield from lint_pattern(pattern, option)
