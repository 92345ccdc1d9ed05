"""The grader `tool-calls`: which tools the agent called, with what, in which order.

Lists, entries and texts are those of Vally (0.15), made exact where its documentation is silent;
`max_count` is ours.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

from graders.call_records import CallRecord, call_records
from graders.event_places import MOST_REFS
from graders.json_comparison import first_unmatched
from graders.text_searches import slashed
from graders.tool_patterns import ToolPattern
from harness.system.patterns import search
from harness.types.grades import Grade, Ref
from harness.types.protocols import Reads, Subject
from harness.types.taxonomy import Taxonomy

_List = Literal["required", "disallowed", "sequence", "parallel"]
_LISTS: tuple[_List, ...] = ("required", "disallowed", "sequence", "parallel")


class _Entry:
    """An entry with the names that it matches: each name of a tool is searched once."""

    def __init__(self, pattern: ToolPattern, called: Collection[str]) -> None:
        self.pattern = pattern
        self.names = frozenset(name for name in called if search(pattern.name, name))

    def find(self, records: Iterable[CallRecord]) -> Iterator[tuple[CallRecord, tuple[Ref, ...]]]:
        """Return the calls that match, each with what to point at."""
        for record in records:
            where = self.pattern.find(record) if record.call.name in self.names else None
            if where:
                yield record, where


class _Finding(NamedTuple):
    """What one list came to."""

    passed: bool
    evidence: str
    refs: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalls:
    r"""Passes when the agent called the tools it had to, and none that it must not.

    An entry is a pattern on the tool's name, unanchored (`^bash$` for exactly bash), or an object
    with `name` and further patterns: `command`, `path` and `args` (by name) on arguments, `pattern`
    on all arguments as compact JSON, `result` on the result; `min_count` and `max_count` say how
    many calls may match. A required call counts only once it has a result; the other lists look at
    calls alone. All lists that are given have to be met.
    """

    taxonomy: ClassVar[Taxonomy] = Taxonomy(
        cost="low", reference="reference-free", scope="trajectory-level"
    )
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()
    expects_matches: ClassVar[bool] = True

    required: tuple[ToolPattern | str, ...] = field(
        default=(), metadata={"description": "Each of these was called, and has a result."}
    )
    disallowed: tuple[ToolPattern | str, ...] = field(
        default=(), metadata={"description": "None of these was called."}
    )
    sequence: tuple[ToolPattern | str, ...] = field(
        default=(),
        metadata={"description": "These were called in this order; others may lie between."},
    )
    parallel: tuple[ToolPattern | str, ...] = field(
        default=(), metadata={"description": "These were called by one reply of the model."}
    )

    def __post_init__(self) -> None:
        if not any(self._entries(option) for option in _LISTS):
            raise ValueError(f"there is nothing to check: give one of {', '.join(_LISTS)}")
        for entry in self._entries("disallowed"):
            if entry.max_count is not None:
                raise ValueError(f"`max_count` of {entry.text} has no meaning in `disallowed`")
            self._refuse_contradiction(entry)
        for entry in (*self._entries("sequence"), *self._entries("parallel")):
            if (entry.min_count, entry.max_count) != (None, None):
                raise ValueError(f"the counts of {entry.text} have a meaning in `required` alone")

    def _refuse_contradiction(self, refused: ToolPattern) -> None:
        for option in _LISTS:
            for entry in self._entries(option) if option != "disallowed" else ():
                whole = refused.name == entry.name and not refused.filters and refused.least <= 1
                if whole or (refused == entry):
                    raise ValueError(f"{entry.text} is in `{option}`, and `disallowed` refuses it")

    def lint(self) -> Iterable[tuple[str, str]]:
        """Find invalid patterns."""
        for option in _LISTS:
            for entry in self._entries(option):
                yield from entry.lint(option)

    def grade(self, subject: Subject, /) -> Grade:
        """Look at the calls, list by list."""
        for option in _LISTS:
            for entry in self._entries(option):
                entry.has_valid_patterns()
        records = call_records(subject.trajectory)
        called = {record.call.name for record in records}
        lists: dict[_List, list[_Entry]] = {
            option: [_Entry(one, called) for one in self._entries(option)] for option in _LISTS
        }
        findings = list(_findings(lists, records))
        failed = [one for one in findings if not one.passed]
        refs = [ref for one in failed or findings for ref in one.refs]
        unmatched = [entry.pattern.name for entry in lists["disallowed"] if not entry.names]
        shown = [f"disallowed {slashed(name)}" for name in dict.fromkeys(unmatched)]
        details = {"unmatched": shown} if self.disallowed else {}
        return Grade(
            score=float(not failed),
            evidence=". ".join(one.evidence for one in findings),
            refs=tuple(refs[:MOST_REFS]),
            details=details,
        )

    def _entries(self, option: _List) -> tuple[ToolPattern, ...]:
        given: tuple[ToolPattern | str, ...] = getattr(self, option)
        return tuple(ToolPattern(name=one) if isinstance(one, str) else one for one in given)


def _findings(
    lists: Mapping[_List, Sequence[_Entry]], records: Sequence[CallRecord]
) -> Iterator[_Finding]:
    if lists["required"]:
        yield _judge_required(lists["required"], records)
    yield _judge_disallowed(lists["disallowed"], records)
    if lists["sequence"]:
        yield _judge_sequence(lists["sequence"], records)
    if lists["parallel"]:
        yield _judge_parallel(lists["parallel"], records)


def _judge_required(entries: Sequence[_Entry], records: Sequence[CallRecord]) -> _Finding:
    missing, too_many, refs = [], [], list[Ref]()
    for each in entries:
        entry, found = each.pattern, list(each.find(records))
        answered = sum(bool(record.results) for record, _ in found)
        if answered < entry.least:
            counted = f" ({answered} of at least {entry.least} times)" if entry.least > 1 else ""
            missing.append(f"{entry.text}{counted}")
        elif entry.max_count is not None and len(found) > entry.max_count:
            too_many.append(f"{entry.text} ({len(found)} times, at most {entry.max_count})")
        refs += [ref for _, where in found[:MOST_REFS] for ref in where]
    parts = [
        f"The following required tools were not called: {', '.join(missing)}" if missing else "",
        f"The following tools were called too often: {', '.join(too_many)}" if too_many else "",
    ]
    failed = ". ".join(filter(None, parts))
    return _Finding(not failed, failed or "All required tools were called", tuple(refs))


def _judge_disallowed(entries: Sequence[_Entry], records: Sequence[CallRecord]) -> _Finding:
    called, refs = [], list[Ref]()
    for each in entries:
        entry, found = each.pattern, [where for _, where in each.find(records)]
        if len(found) >= max(entry.least, 1):
            counted = f" ({len(found)} times)" if entry.least > 1 else ""
            called.append(f"{entry.text}{counted}")
            refs += [ref for where in found[:MOST_REFS] for ref in where]
    if not called:
        return _Finding(True, "No disallowed tools were called")
    evidence = f"The following disallowed tools were called: {', '.join(called)}"
    return _Finding(False, evidence, tuple(refs))


def _judge_sequence(entries: Sequence[_Entry], records: Sequence[CallRecord]) -> _Finding:
    refs: list[Ref] = []
    following = iter(records)
    for index, entry in enumerate(entries):
        # The first call that matches is the best one: it leaves most calls for what follows.
        found = next(entry.find(following), None)
        if found is None:
            after = f" after {entries[index - 1].pattern.text}" if index else ""
            problem = f"{entry.pattern.text} was not called{after}"
            return _Finding(False, f"The required sequence was not met: {problem}", tuple(refs))
        refs += found[1]
    return _Finding(True, "The tools were called in the required sequence", tuple(refs))


def _judge_parallel(entries: Sequence[_Entry], records: Sequence[CallRecord]) -> _Finding:
    names = ", ".join(entry.pattern.text for entry in entries)
    steps: defaultdict[Any, list[CallRecord]] = defaultdict(list)
    for record in records:
        steps[record.reply].append(record)
    for calls in steps.values():
        if len(calls) < len(entries):
            continue
        found = [list(entry.find(calls)) for entry in entries]
        places = {record.ref: place for place, record in enumerate(calls)}
        partners = [[places[record.ref] for record, _ in row] for row in found]
        if first_unmatched(len(entries), partners.__getitem__) is None:
            refs = dict.fromkeys(ref for row in found for _, where in row for ref in where)
            return _Finding(True, f"One step called in parallel: {names}", tuple(refs))
    return _Finding(False, f"No step called in parallel: {names}")
