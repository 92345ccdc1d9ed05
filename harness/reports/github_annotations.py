"""Failing samples as annotations of GitHub Actions, at their lines of the dataset.

Source: the workflow commands of GitHub Actions, `::error file=...,line=...,title=...::message`.
"""

from collections.abc import Iterator, Mapping

from harness.system.texts import cut, one_line
from harness.types.explanations import Explanation, Place
from harness.types.summaries import FailedTrial, Summary

_MOST = 10
"""How many annotations of one kind GitHub shows of a step; it drops further ones without a word."""

_LONGEST = 400


def github_annotations(
    summary: Summary, explanation: Explanation, places: Mapping[str, Place]
) -> Iterator[str]:
    """Yield a line for the verdict where it is bad, then one a failing sample and model.

    They are errors where the run is bad, and warnings where it passes all the same. `places` are
    relative to the repository.
    """
    is_bad = explanation.state != "passed"
    kind = "error" if is_bad else "warning"
    room = _MOST
    if is_bad:
        room -= 1
        yield _annotation(kind, None, explanation.suite, explanation.verdict)
    failures = list(first_of_each(summary))
    for failed in failures[:room]:
        place = places.get(failed.sample_id) or places.get("")
        title = f"{failed.sample_id} on {failed.model}"
        by = failed.grader or failed.status.replace("_", " ")
        yield _annotation(kind, place, title, f"{by}: {failed.evidence}")
    if explanation.failing > room:
        rest = f"{explanation.failing} trials did not pass; the summary of the run groups them all"
        yield _annotation("notice", None, explanation.suite, rest)


def first_of_each(summary: Summary) -> Iterator[FailedTrial]:
    """Yield the first failing trial of each sample and model among those that are known."""
    seen = set[tuple[str, str]]()
    for failed in summary.first_failures:
        if (failed.sample_id, failed.model) not in seen:
            seen.add((failed.sample_id, failed.model))
            yield failed


def _annotation(kind: str, place: Place | None, title: str, message: str) -> str:
    named = {"file": place.file if place else "", "line": str(place.line) if place else ""}
    named = {
        name: one_line(text) for name, text in {**named, "title": title or "(no name)"}.items()
    }
    shown = [
        f"{name}={_property(value)}" for name, value in named.items() if value not in {"", "0"}
    ]
    return f"::{kind} {','.join(shown)}::{_data(cut(one_line(message), _LONGEST))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
