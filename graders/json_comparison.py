"""Comparing JSON values: an expected structure with what is there, by a stated rule.

Truth values are no numbers (`true` is not `1`), and `1` is `1.0`. The objects of an expected
structure are compared key by key, its lists item by item.
"""

import json
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple

from graders.text_searches import lint_pattern
from harness.system.json_values import compact_json
from harness.system.patterns import check_time, search
from harness.system.texts import cut

Mode = Literal["equals", "contains", "matches"]

_SHOWN_CHARACTERS = 200
_SCALARS = frozenset({str, int, float, bool, type(None)})


class Difference(NamedTuple):
    """Where two values first differ, as a path such as `$.city`, and what stands there."""

    path: str
    problem: str
    expected: Any
    actual: Any

    @property
    def line(self) -> str:
        """Say it in one line."""
        values = {"expected": shown(self.expected), "actual": shown(self.actual)}
        return f"{self.path}: {self.problem.format(**values)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How values are compared.

    `equals`: nothing is missing and nothing is more. `contains`: what is expected is there; objects
    may have more keys, lists more items, which leave the order as it is. `matches` is `contains`
    in which every expected text is a pattern. Numbers may differ by `tolerance`; `ignore_order`
    lets the items of lists stand in any order.
    """

    mode: Mode = "equals"
    tolerance: float = 0.0
    ignore_order: bool = False

    def difference(self, expected: Any, actual: Any, path: str = "$") -> Difference | None:
        """Return the first difference, None where the values agree.

        Raises:
            PatternError: an expected text is no pattern, under `matches`.
            SlowPattern: the time limit has passed.
        """
        check_time(path, what="comparing")
        if isinstance(expected, Mapping):
            return self._of_objects(expected, actual, path)
        if isinstance(expected, list | tuple):
            return self._of_lists(expected, actual, path)
        if self._same_scalar(expected, actual):
            return None
        word = "does not match" if self._is_pattern(expected) else "is not"
        return Difference(path, f"{{actual}} {word} {{expected}}", expected, actual)

    def _same_scalar(self, expected: Any, actual: Any) -> bool:
        if self._is_pattern(expected):
            return search(expected, text_of(actual)) is not None
        if type(expected) is type(actual) and expected == actual:
            return True
        if _is_number(expected) and _is_number(actual):
            if expected == actual:
                return True
            return self.tolerance > 0 and _distance(expected, actual) <= self.tolerance
        return False

    def _is_pattern(self, expected: Any) -> bool:
        return self.mode == "matches" and isinstance(expected, str)

    def _of_objects(self, expected: Mapping[str, Any], actual: Any, path: str) -> Difference | None:
        if not isinstance(actual, Mapping):
            return Difference(path, "{actual} is no object", expected, actual)
        for key, value in expected.items():
            if key not in actual:
                return Difference(f"{path}.{key}", "is missing", value, None)
            if type(value) in _SCALARS and self._same_scalar(value, actual[key]):
                continue  # the usual case, in a fraction of the time
            found = self.difference(value, actual[key], f"{path}.{key}")
            if found:
                return found
        more = [key for key in actual if key not in expected] if self.mode == "equals" else []
        if more:
            return Difference(
                f"{path}.{more[0]}", "{actual} is not expected", None, actual[more[0]]
            )
        return None

    def _of_lists(self, expected: Sequence[Any], actual: Any, path: str) -> Difference | None:
        if not isinstance(actual, list | tuple):
            return Difference(path, "{actual} is no list", expected, actual)
        if self.mode == "equals" and len(expected) != len(actual):
            problem = f"has {len(actual)} items, expected are {len(expected)}"
            return Difference(path, problem, expected, actual)
        if self.ignore_order:
            return self._in_any_order(expected, actual, path)
        if self.mode == "equals":
            pairs = zip(expected, actual, strict=True)
            each = (self.difference(e, a, f"{path}[{i}]") for i, (e, a) in enumerate(pairs))
            return next((found for found in each if found), None)
        return self._in_this_order(expected, actual, path)

    def _in_this_order(
        self, expected: Sequence[Any], actual: Sequence[Any], path: str
    ) -> Difference | None:
        following = iter(actual)
        for index, item in enumerate(expected):
            if not any(self.difference(item, one) is None for one in following):
                return Difference(path, f"holds no item {index}: {{expected}}", item, actual)
        return None

    def _in_any_order(
        self, expected: Sequence[Any], actual: Sequence[Any], path: str
    ) -> Difference | None:
        def partners(index: int) -> Iterator[int]:
            wanted = expected[index]
            return (i for i, one in enumerate(actual) if self.difference(wanted, one) is None)

        alone = first_unmatched(len(expected), partners)
        if alone is None:
            return None
        return Difference(path, f"holds no item {alone}: {{expected}}", expected[alone], actual)


def first_unmatched(count: int, partners: Callable[[int], Iterable[int]]) -> int | None:
    """Give each of `count` items a partner of its own; return the first that gets none.

    `partners` returns the possible ones of an item; of many no more are asked for than needed. It
    is the augmenting-path method for bipartite matching (Kuhn 1955).
    """
    owner: dict[int, int] = {}
    possible = cache(lambda item: tuple(partners(item)))
    for item in range(count):
        check_time("matching items", what="comparing")
        free = next((one for one in partners(item) if one not in owner), None)
        if free is not None:
            owner[free] = item
        elif not _augment(item, possible, owner):
            return item
    return None


def _augment(item: int, possible: Callable[[int], Sequence[int]], owner: dict[int, int]) -> bool:
    came_from: dict[int, int] = {}
    queue = deque([item])
    while queue:
        current = queue.popleft()
        check_time("matching items", what="comparing")
        for partner in possible(current):
            if partner in came_from:
                continue
            came_from[partner] = current
            if partner not in owner:
                _reassign(partner, item, came_from, owner)
                return True
            queue.append(owner[partner])
    return False


def _reassign(partner: int, item: int, came_from: Mapping[int, int], owner: dict[int, int]) -> None:
    """Give every item on the path found its new partner."""
    on_the_path = set(came_from.values())
    had = {one: partner for partner, one in owner.items() if one in on_the_path}
    while True:
        taker = came_from[partner]
        owner[partner] = taker
        if taker == item:
            return
        partner = had[taker]


def lint_structure(expected: Any, option: str) -> Iterator[tuple[str, str]]:
    """Find texts of an expected structure that are no patterns, for comparing by `matches`."""
    if isinstance(expected, str):
        yield from lint_pattern(expected, option)
    inner = expected.values() if isinstance(expected, Mapping) else expected
    if isinstance(expected, Mapping | list | tuple):
        for item in inner:
            yield from lint_structure(item, option)


def same_json(one: Any, other: Any) -> bool:
    """Say whether two JSON values are the same."""
    return Rule().difference(one, other) is None


def json_key(value: Any, *, ignore_order: bool = False) -> Hashable:
    """Return what is equal for equal JSON values alone: `true` is not `1`, and `1` is `1.0`.

    With `ignore_order` the items of lists may stand in any order.
    """
    if type(value) in _SCALARS:
        return (type(value) is bool, value)
    if isinstance(value, Mapping):
        items = value.items()
        return frozenset((key, json_key(one, ignore_order=ignore_order)) for key, one in items)
    if isinstance(value, list | tuple):
        keys = tuple(json_key(one, ignore_order=ignore_order) for one in value)
        return ("list", frozenset(Counter(keys).items())) if ignore_order else keys
    return (type(value) is bool, value)


def text_of(value: Any) -> str:
    """Return a text as it is, and any other value as compact JSON."""
    if isinstance(value, str):
        return value
    try:
        return compact_json(value)
    except ValueError:
        return json.dumps(value, default=repr, ensure_ascii=False)


def shown(value: Any) -> str:
    """Show a value in evidence, shortened."""
    return cut(text_of(value) if not isinstance(value, str) else f'"{value}"', _SHOWN_CHARACTERS)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _distance(one: float, other: float) -> float:
    try:
        return abs(one - other)
    except OverflowError:
        return float("inf")
