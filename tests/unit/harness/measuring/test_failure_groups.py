"""Failing trials in groups."""

from fakes.explained_runs import failed_trial

from harness.measuring.failure_groups import failure_groups, origins_of, some_of_each
from harness.types.explanations import BadEvent


def found(sample_id, words, *, origin="agent", **fields):
    return failed_trial(sample_id, **fields), BadEvent(origin=origin, words=words)


MIXED = [
    found("a", "skips `x`", evidence="first"),
    found("b", "is late", grader=None, origin="provider"),
    found("a", "skips `x`", epoch=1),
    found("c", "skips `x`", model="n"),
    found("c", "skips `x`", grader="h"),
]


def test_trials_are_grouped_by_grader_and_words_and_the_largest_comes_first():
    groups = failure_groups(MIXED)
    assert [(one.grader, one.words, one.trials) for one in groups] == [
        ("g", "skips `x`", 3),
        (None, "is late", 1),
        ("h", "skips `x`", 1),
    ]


def test_a_group_counts_each_sample_once_and_shows_the_first_evidence():
    first = failure_groups(MIXED)[0]
    assert (first.samples, first.sample_count, first.models) == (("a", "c"), 2, ("m", "n"))
    assert first.evidence == "first"


def test_twenty_samples_are_named_and_all_are_counted():
    (group,) = failure_groups(found(f"s{n:02}", "w") for n in range(30))
    assert (len(group.samples), group.sample_count, group.samples[-1]) == (20, 30, "s19")


def test_origins_are_counted_the_most_first():
    assert list(origins_of(MIXED).items()) == [("agent", 4), ("provider", 1)]
    assert origins_of([]) == {}


def test_the_first_of_each_group_is_shown_before_the_second_of_any():
    chosen = some_of_each(MIXED, failure_groups(MIXED), 4)
    assert [(one.sample_id, one.epoch, one.grader) for one, _ in chosen] == [
        ("a", 0, "g"),
        ("b", 0, None),
        ("c", 0, "h"),
        ("a", 1, "g"),
    ]


def test_different_samples_are_shown_before_further_epochs_of_one():
    alike = [found(name, "is late", epoch=epoch) for name in "abc" for epoch in range(3)]
    chosen = some_of_each(alike, failure_groups(alike), 3)
    assert [one.sample_id for one, _ in chosen] == ["a", "b", "c"]
    causes = [found("a", f"cause {epoch % 2}", epoch=epoch) for epoch in range(4)]
    chosen = some_of_each(causes, failure_groups(causes), 2)
    assert [bad.words for _, bad in chosen] == ["cause 0", "cause 1"]


def test_no_more_is_shown_than_there_is():
    assert len(some_of_each(MIXED, failure_groups(MIXED), 99)) == len(MIXED)
    assert some_of_each([], (), 3) == ()
