"""Trials without an outcome: how many, of which samples, and whether they decide a verdict."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.measuring.paired_outcomes import Filling, MetricPairs, incomplete
from harness.types.verdicts import VERDICT_WORDS, MissingOutcomes, Verdict

Ways = dict[Filling, Verdict]
"""The verdict under each way of filling in."""


@dataclass(frozen=True, slots=True)
class MissingCounts:
    """How many trials of each run have no outcome, and the samples that have such."""

    baseline_errored: int
    baseline_never_ran: int
    candidate_errored: int
    candidate_never_ran: int
    samples: tuple[str, ...]

    @property
    def total(self) -> int:
        """Return how many there are in both runs."""
        return sum(
            (
                self.baseline_errored,
                self.baseline_never_ran,
                self.candidate_errored,
                self.candidate_never_ran,
            )
        )


def count_missing(given: MetricPairs) -> MissingCounts:
    """Count the trials without an outcome; samples in ascending order."""
    missing = incomplete(given).samples
    return MissingCounts(
        baseline_errored=sum(one.baseline.errored for one in missing),
        baseline_never_ran=sum(one.baseline.never_ran for one in missing),
        candidate_errored=sum(one.candidate.errored for one in missing),
        candidate_never_ran=sum(one.candidate.never_ran for one in missing),
        samples=tuple(sorted(one.sample_id for one in missing)),
    )


def settle(ways: Ways) -> Verdict:
    """Return the verdict that holds however missing outcomes are filled in, else INCONCLUSIVE.

    IMPROVED mixed with NO WORSE is NO WORSE; INVALID stays what it is. Where nothing can be said
    without the missing outcomes, and the same with them whatever they are, that holds.
    """
    if ways["left_out"] == "invalid" or len(set(ways.values())) == 1:
        return ways["left_out"]
    stands = ways["left_out"] != "inconclusive"
    verdicts: set[Verdict] = {
        verdict for way, verdict in ways.items() if stands or way != "left_out"
    }
    if len(verdicts) == 1:
        return verdicts.pop()
    return "no_worse" if verdicts == {"improved", "no_worse"} else "inconclusive"


def missing_record(counts: MissingCounts, ways: Ways) -> MissingOutcomes:
    """Return what is missing and what each way of filling it in gives."""
    return MissingOutcomes(
        baseline_errored=counts.baseline_errored,
        baseline_never_ran=counts.baseline_never_ran,
        candidate_errored=counts.candidate_errored,
        candidate_never_ran=counts.candidate_never_ran,
        samples=counts.samples,
        left_out=ways["left_out"],
        if_failed=ways.get("if_failed"),
        if_passed=ways.get("if_passed"),
        decided=len(set(ways.values())) > 1 and settle(ways) == "inconclusive",
    )


def missing_reason(counts: MissingCounts, ways: Ways) -> str:
    """Say how the verdict hangs on the missing outcomes."""
    trials = _trials_words(counts)
    one_sided = not counts.baseline_errored + counts.baseline_never_ran
    said = _each_way(trials, plural=counts.total > 1, one_sided=one_sided)
    parts = [f"{_word(ways['if_failed'])} {said[0]}", f"{_word(ways['if_passed'])} {said[1]}"]
    if ways["left_out"] not in (ways["if_failed"], ways["if_passed"]):
        parts.insert(0, f"{_word(ways['left_out'])} as things stand")
    return ", ".join(parts)


def either_way_reason(counts: MissingCounts, verdict: Verdict) -> str:
    """Say that the verdict holds whatever had come of the missing outcomes."""
    return f"{_word(verdict)} whatever had come of {_trials_words(counts)}"


def _trials_words(counts: MissingCounts) -> str:
    errored = counts.baseline_errored + counts.candidate_errored
    kind = "errored" if errored == counts.total else "missing"
    return f"the {counts.total} {kind} trials" if counts.total > 1 else f"the {kind} trial"


def _each_way(trials: str, *, plural: bool, one_sided: bool) -> Sequence[str]:
    they = "they" if plural else "it"
    ending = "" if plural else "s"
    if one_sided:
        passing = "pass" if plural else "passes"
        return (f"if {trials} fail{ending}", f"if {they} {passing}")
    return (
        f"if {trials} count{ending} against the candidate",
        f"if {they} count{ending} for it",
    )


def _word(verdict: Verdict) -> str:
    return VERDICT_WORDS[verdict].lower()
