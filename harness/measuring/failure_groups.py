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
    groups: defaultdict[tuple[Origin, str, str], list[FailedTrial]] = defaultdict(list)
    for failed, bad in found:
        groups[bad.origin, failed.grader or "", bad.words].append(failed)
    made = [_group(origin, words, trials) for (origin, _, words), trials in groups.items()]
    return tuple(sorted(made, key=lambda one: (-one.trials, one.words, one.grader or "")))


def _group(origin: Origin, words: str, trials: Sequence[FailedTrial]) -> FailureGroup:
    samples = tuple(dict.fromkeys(trial.sample_id for trial in trials))
    return FailureGroup(
        origin=origin,
        grader=trials[0].grader,
        words=words,
        trials=len(trials),
        samples=samples[:_MOST_SAMPLES],
        sample_count=len(samples),
        models=tuple(sorted({trial.model for trial in trials})),
        evidence=trials[0].evidence,
    )


def origins_of(found: Iterable[FoundFailure]) -> dict[Origin, int]:
    """Count failing trials by where their failure comes from, most first."""
    counted: Counter[Origin] = Counter(bad.origin for _, bad in found)
    return {name: counted[name] for name in sorted(counted, key=lambda one: (-counted[one], one))}


def some_of_each(
    found: Sequence[FoundFailure], groups: Iterable[FailureGroup], most: int
) -> tuple[FoundFailure, ...]:
    """Choose trials to show: the first of each group, largest first, then further ones."""
    by_group: defaultdict[tuple[str | None, str], list[FoundFailure]] = defaultdict(list)
    for failed, bad in found:
        by_group[failed.grader, bad.words].append((failed, bad))
    queues = [by_group[group.grader, group.words] for group in groups]
    longest = max(map(len, queues), default=0)
    ranks = (
        queue[rank] for rank in range(min(longest, most)) for queue in queues if rank < len(queue)
    )
    return tuple(one for one, _ in zip(ranks, range(most), strict=False))
