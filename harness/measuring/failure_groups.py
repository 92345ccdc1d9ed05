"""Failing trials grouped by grader and by what first went wrong."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from harness.types.explanations import BadEvent, FailureGroup, Origin
from harness.types.summaries import FailedTrial

_MOST_SAMPLES = 20

FoundFailure = tuple[FailedTrial, BadEvent]
"""A failing trial, and what first went wrong in it."""


def failure_groups(found: Iterable[FoundFailure]) -> tuple[FailureGroup, ...]:
    """Group failing trials by grader and first bad event, largest group first.

    The order of the trials counts for which evidence is shown; groups of one size are in the order
    of their words.
    """
    groups: defaultdict[tuple[Origin, str, str], list[FoundFailure]] = defaultdict(list)
    for failed, bad in found:
        groups[bad.origin, failed.grader or "", bad.words].append((failed, bad))
    made = [_group(together) for together in groups.values()]
    return tuple(sorted(made, key=lambda one: (-one.trials, one.words, one.grader or "")))


def _group(found: Sequence[FoundFailure]) -> FailureGroup:
    first, bad = found[0]
    trials = [failed for failed, _ in found]
    samples = tuple(dict.fromkeys(trial.sample_id for trial in trials))
    return FailureGroup(
        origin=bad.origin,
        grader=first.grader,
        words=bad.words,
        trials=len(trials),
        samples=samples[:_MOST_SAMPLES],
        sample_count=len(samples),
        models=tuple(sorted({trial.model for trial in trials})),
        evidence=first.evidence,
        event=bad.event,
    )


def origins_of(found: Iterable[FoundFailure]) -> dict[Origin, int]:
    """Count failing trials by where their failure comes from, most first."""
    counted: Counter[Origin] = Counter(bad.origin for _, bad in found)
    return {name: counted[name] for name in sorted(counted, key=lambda one: (-counted[one], one))}


def some_of_each(
    found: Sequence[FoundFailure], groups: Iterable[FailureGroup], most: int
) -> tuple[FoundFailure, ...]:
    """Choose trials to show: of different samples first, and of different groups, largest first."""
    ranks = {(group.grader, group.words): rank for rank, group in enumerate(groups)}
    samples, causes = set[str](), Counter[_Cause]()
    left, chosen = dict(enumerate(found)), list[FoundFailure]()

    def order(place: int) -> tuple[bool, int, int, int]:
        failed, cause = left[place][0], _cause(left[place])
        return failed.sample_id in samples, causes[cause], ranks[cause], place

    while left and len(chosen) < most:
        one = left.pop(min(left, key=order))
        samples.add(one[0].sample_id)
        causes[_cause(one)] += 1
        chosen.append(one)
    return tuple(chosen)


_Cause = tuple[str | None, str]


def _cause(found: FoundFailure) -> _Cause:
    failed, bad = found
    return failed.grader, bad.words
