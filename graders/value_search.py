"""Many values looked for in texts at once, in time that grows with the texts alone.

Values are told apart by their first characters: of a text every run of so many characters is looked
up, and only where it begins a value are the values compared.
"""

from collections.abc import Iterator

from graders.token_bounds import find_whole, is_whole
from harness.system.patterns import check_time

_LONGEST_PROBE = 16
_STRETCH = 4_096
"""Characters that are looked at between two looks at the clock."""

_LOOKUP_NANOSECONDS = 60
_SEARCH_NANOSECONDS = 100
_CHARACTERS_A_NANOSECOND = 4

Span = tuple[int, int]


class ValueSearch:
    """The values that are still looked for; each is found once, at its first place.

    With `whole` a value has to stand as a whole, a number with its sign.
    """

    def __init__(self, *, whole: bool = False) -> None:
        self._whole = whole
        self._count = 0
        self._probes: dict[int, dict[str, dict[int, set[str]]]] = {}
        """The values by the length of their first characters, by these, and by their own length."""

    def add(self, value: str) -> None:
        """Look for a value from now on; an empty one is never found."""
        if value:
            size = _probe_size(value)
            lengths = self._probes.setdefault(size, {}).setdefault(value[:size], {})
            values = lengths.setdefault(len(value), set())
            self._count += value not in values
            values.add(value)

    def find_in(self, text: str) -> dict[str, Span]:
        """Return the values that stand in a text, with their first places, and drop them.

        Raises:
            SlowPattern: the time limit has passed.
        """
        one_by_one = self._count * (_SEARCH_NANOSECONDS + len(text) // _CHARACTERS_A_NANOSECOND)
        at_once = len(self._probes) * len(text) * _LOOKUP_NANOSECONDS
        found: dict[str, Span] = {}
        for value, span in self._each(text) if one_by_one <= at_once else self._hits(text):
            if value not in found:
                found[value] = span
                self._drop(value)
        return found

    def _each(self, text: str) -> Iterator[tuple[str, Span]]:
        groups = [
            values for one in self._probes.values() for at in one.values() for values in at.values()
        ]
        for value in [value for values in groups for value in values]:
            check_time(value, what="looking for")
            if self._whole:
                span = find_whole(value, text, signed=True)
            else:
                at = text.find(value)
                span = (at, at + len(value)) if at >= 0 else None
            if span:
                yield value, span

    def _hits(self, text: str) -> Iterator[tuple[str, Span]]:
        for size, probes in list(self._probes.items()):
            for at in _places(text, size, probes):
                lengths = probes.get(text[at : at + size], {})
                for length in tuple(lengths):
                    value, end = text[at : at + length], at + length
                    if value in lengths.get(length, ()) and (
                        not self._whole or is_whole(text, at, end, signed=True)
                    ):
                        yield value, (at, end)

    def _drop(self, value: str) -> None:
        """Forget a value, and what held it alone."""
        size = _probe_size(value)
        probes = self._probes[size]
        lengths = probes[value[:size]]
        lengths[len(value)].remove(value)
        self._count -= 1
        if not lengths[len(value)]:
            del lengths[len(value)]
        if not lengths:
            del probes[value[:size]]
        if not probes:
            del self._probes[size]


def _probe_size(value: str) -> int:
    """Return the power of two, up to 16, of first characters that tell a value apart."""
    return int(min(1 << (len(value).bit_length() - 1), _LONGEST_PROBE))


def _places(text: str, size: int, probes: dict[str, dict[int, set[str]]]) -> Iterator[int]:
    last = len(text) - size + 1
    for low in range(0, last, _STRETCH):
        check_time("the values", what="looking for")
        high = min(low + _STRETCH, last)
        yield from [at for at in range(low, high) if text[at : at + size] in probes]
