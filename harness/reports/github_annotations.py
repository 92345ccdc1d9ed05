"""Failing samples as annotations of GitHub Actions, at their lines of the dataset.

Source: the workflow commands of GitHub Actions, `::error file=...,line=...,title=...::message`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from harness.system.texts import cut, one_line
from harness.types.comparisons import Comparison
from harness.types.explanations import Explanation, Place
from harness.types.summaries import FailedTrial, Summary

_MOST = 10
"""How many annotations of one kind GitHub shows of a step; it drops further ones without a word."""

_LONGEST = 400
_LONGEST_VERDICT = 1_000
"""That of the run holds what to do next, with its commands."""


def github_annotations(
    summary: Summary, explanation: Explanation, places: Mapping[str, Place]
) -> Iterator[str]:
    """Yield a line for the verdict where it is bad, then one a failing sample and model.

    Samples that have regressed come first. They are errors where the run is bad, and warnings where
    it passes all the same. `places` are relative to the repository.
    """
    is_bad = explanation.state != "passed"
    kind = "error" if is_bad else "warning"
    room = _MOST
    if is_bad:
        room -= 1
        yield _annotation(
            kind, None, explanation.suite, _verdict(explanation), longest=_LONGEST_VERDICT
        )
    for told in _each(summary, explanation)[:room]:
        place = places.get(told.sample_id) or places.get("")
        yield _annotation(kind, place, f"{told.sample_id} on {told.model}", told.message)
    if explanation.failing > room:
        rest = f"{explanation.failing} trials did not pass; the summary of the run groups them all"
        yield _annotation("notice", None, explanation.suite, rest)


def _verdict(explanation: Explanation) -> str:
    step = explanation.next_step
    if step is None:
        return explanation.verdict
    command = f": {step.command}" if step.command else ""
    return f"{explanation.verdict} {step.words}{command}"


def annotated_samples(summary: Summary, explanation: Explanation) -> frozenset[str]:
    """Return the ids of the samples that are annotated, whose places have to be known."""
    return frozenset(told.sample_id for told in _each(summary, explanation)[:_MOST])


class _Told(NamedTuple):
    """What is said of a sample on a model."""

    sample_id: str
    model: str
    message: str


def _each(summary: Summary, explanation: Explanation) -> Sequence[_Told]:
    """Return what is said of each sample and model that are known to have regressed or failed."""
    told = [*_regressed(explanation.comparisons), *map(_failed, summary.first_failures)]
    first: dict[tuple[str, str], _Told] = {}
    for one in told:
        first.setdefault((one.sample_id, one.model), one)
    return tuple(first.values())


def _failed(failed: FailedTrial) -> _Told:
    by = failed.grader or failed.status.replace("_", " ")
    return _Told(failed.sample_id, failed.model, f"{by}: {failed.evidence}")


def _regressed(comparisons: Iterable[Comparison]) -> Iterator[_Told]:
    for comparison in comparisons:
        for pair in comparison.regressed[:_MOST]:
            shown = pair.candidate_shown
            why = f"; {shown.grader or shown.status}: {shown.evidence}" if shown else ""
            message = (
                f"regressed: {pair.baseline_passes}/{pair.baseline_trials} passed in "
                f"{comparison.baseline.run_id}, {pair.candidate_passes}/{pair.candidate_trials} "
                f"now{why}"
            )
            yield _Told(pair.sample_id, comparison.candidate.model, message)


def _annotation(
    kind: str, place: Place | None, title: str, message: str, *, longest: int = _LONGEST
) -> str:
    named = {"file": place.file if place else "", "line": str(place.line) if place else ""}
    named = {
        name: one_line(text) for name, text in {**named, "title": title or "(no name)"}.items()
    }
    shown = [
        f"{name}={_property(value)}" for name, value in named.items() if value not in {"", "0"}
    ]
    return f"::{kind} {','.join(shown)}::{_data(cut(one_line(message), longest))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
