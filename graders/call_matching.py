"""Giving each call one reference call of its own, and each reference call one call.

Where arguments are compared for equality, calls are counted. Else they are matched, and of the
calls of a tool only those are compared that have the same texts as the reference call.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from graders.json_comparison import Rule, first_unmatched, json_key, shown
from harness.system.patterns import check_time
from harness.types.events import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceCall:
    """A call that is expected: the tool, and its arguments where they are compared."""

    name: str = field(metadata={"description": "Exact name of the tool."})
    arguments: Any = field(
        default=None, metadata={"description": "Its arguments; null for any arguments."}
    )

    @property
    def text(self) -> str:
        """Show it in evidence."""
        return self.name if self.arguments is None else f"{self.name}{shown(self.arguments)}"


def agree(rule: Rule | None, reference: ReferenceCall, call: ToolCall) -> bool:
    """Say whether a call is the one that is expected; without a rule arguments do not count."""
    if reference.name != call.name:
        return False
    if rule is None or reference.arguments is None:
        return True
    return rule.difference(reference.arguments, call.arguments) is None


def first_missing(
    rule: Rule | None, references: Sequence[ReferenceCall], calls: Sequence[ToolCall]
) -> int | None:
    """Return the first reference call that no call is left for; None if all were called.

    Raises:
        SlowPattern: the time limit has passed.
    """
    if _counts(rule):
        return _first_not_called(rule, references, calls)
    candidates = _Candidates(rule, calls)
    return first_unmatched(
        len(references),
        lambda i: (j for j in candidates.of(references[i]) if agree(rule, references[i], calls[j])),
    )


def first_surplus(
    rule: Rule | None, references: Sequence[ReferenceCall], calls: Sequence[ToolCall]
) -> int | None:
    """Return the first call that no reference call is left for; None if all are expected.

    Raises:
        SlowPattern: the time limit has passed.
    """
    if _counts(rule):
        return _first_not_expected(rule, references, calls)
    named: defaultdict[str, list[int]] = defaultdict(list)
    for index, one in enumerate(references):
        named[one.name].append(index)
    return first_unmatched(
        len(calls),
        lambda i: (j for j in named.get(calls[i].name, ()) if agree(rule, references[j], calls[i])),
    )


def _counts(rule: Rule | None) -> bool:
    """Say whether calls that agree with the same reference call agree with each other."""
    return rule is None or (rule.mode == "equals" and rule.tolerance == 0)


def _key(rule: Rule | None, name: str, arguments: Any) -> Hashable:
    check_time(name, what="comparing")
    return name, None if rule is None else json_key(arguments, ignore_order=rule.ignore_order)


def _is_exact(rule: Rule | None, reference: ReferenceCall) -> bool:
    return rule is not None and reference.arguments is not None


def _first_not_called(
    rule: Rule | None, references: Sequence[ReferenceCall], calls: Sequence[ToolCall]
) -> int | None:
    exact = {one.name for one in references if _is_exact(rule, one)}
    left = Counter(_key(rule, one.name, one.arguments) for one in calls if one.name in exact)
    left_of_name = Counter(call.name for call in calls)
    for index, one in enumerate(references):
        left_of_name[one.name] -= 1
        if left_of_name[one.name] < 0:
            return index
        if _is_exact(rule, one):
            key = _key(rule, one.name, one.arguments)
            left[key] -= 1
            if left[key] < 0:
                return index
    return None


def _first_not_expected(
    rule: Rule | None, references: Sequence[ReferenceCall], calls: Sequence[ToolCall]
) -> int | None:
    exact = [one for one in references if _is_exact(rule, one)]
    left = Counter(_key(rule, one.name, one.arguments) for one in exact)
    left_of_name = Counter(one.name for one in references if not _is_exact(rule, one))
    for index, call in enumerate(calls):
        key = _key(rule, call.name, call.arguments)
        if left[key] > 0:
            left[key] -= 1
            continue
        left_of_name[call.name] -= 1
        if left_of_name[call.name] < 0:
            return index
    return None


class _Candidates:
    """The calls that a reference call may agree with, by the tool and by one of its texts.

    They begin behind the last one that was looked at: calls mostly come in the order of the list.
    """

    def __init__(self, rule: Rule | None, calls: Sequence[ToolCall]) -> None:
        self._by_text = rule is not None and rule.mode != "matches"
        self._last = 0
        self._named: defaultdict[str, list[int]] = defaultdict(list)
        self._holding: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)
        for index, call in enumerate(calls):
            self._named[call.name].append(index)
            for key, text in self._texts(call.arguments):
                self._holding[call.name, key, text].append(index)

    def of(self, reference: ReferenceCall) -> Iterator[int]:
        """Return their indices, each once."""
        texts = self._texts(reference.arguments)
        lists = [self._holding.get((reference.name, *one), []) for one in texts]
        found = min(lists, key=len, default=self._named.get(reference.name, []))
        start = bisect_right(found, self._last)
        for index in chain(islice(found, start, None), islice(found, start)):
            self._last = index
            yield index

    def _texts(self, arguments: Any) -> Iterator[tuple[str, str]]:
        if self._by_text and isinstance(arguments, Mapping):
            yield from ((key, one) for key, one in arguments.items() if isinstance(one, str))
