"""What to do next with a run that could not be judged wholly, and the command that does it."""

import shlex
from collections.abc import Iterator
from pathlib import Path

from harness.measuring.failure_origins import ORIGINS
from harness.measuring.faulty_graders import faulty_names
from harness.running.budget_amounts import limits_that_ended
from harness.running.sample_places import shown_path
from harness.running.stored_summaries import UNDER_WAY
from harness.storing.manifests import Manifest, read_manifest
from harness.system.like_texts import split_place
from harness.types.errors import StoreError
from harness.types.explanations import NextStep
from harness.types.summaries import BrokenGrader, Summary

_MOST_NAMED = 3
_GO_ON, _AGAIN = "go on with it", "grade it again"
_ANSWERS_AGAIN = frozenset(
    {
        "rate_limited",
        "overloaded",
        "connection_refused",
        "connection_lost",
        "stream_cut",
        "server_error",
        "bad_reply",
        "judge_unreachable",
    }
)
"""Errors of a provider that pass without anybody doing anything here."""


def next_step(folder: Path, summary: Summary) -> NextStep | None:
    """Say what makes a run whole: its cause mended, what is missing or ended in errors made again.

    None where nothing is missing, where the run is still under way, or nothing could be done here.
    """
    try:
        manifest = read_manifest(folder)
    except StoreError:
        return None
    is_graded = manifest.graded_from is not None
    first = list(dict.fromkeys(_firsts(summary, is_graded=is_graded)))
    is_under_way = any(reason.startswith(UNDER_WAY) for reason in summary.reasons)
    if is_under_way or (not first and _missing(summary) <= 0):
        return None
    command = (
        _grading(folder, summary, manifest) if is_graded else _resuming(folder, summary, manifest)
    )
    if command is None and not first:
        return None
    how = _AGAIN if is_graded else _GO_ON
    words = f"{' and '.join(first)}, then {how}" if first else how
    return NextStep(words=words[:1].upper() + words[1:], command=command)


def _missing(summary: Summary) -> int:
    return (summary.planned or 0) - sum(model.trials for model in summary.models.values())


def _firsts(summary: Summary, *, is_graded: bool) -> Iterator[str]:
    """Return what is to be done first; what `is_graded` alone has no target to mend."""
    for limits in limits_that_ended(summary.reasons):
        yield f"raise {limits} in the suite"
    if faulty := faulty_names(summary.reasons):
        yield f"mend {_named('the grader', faulty)} in the suite"
    broken = sorted(summary.broken_graders, key=lambda one: not one.decides)
    own = [_with_place(one) for one in broken if _code(one.evidence) not in _ANSWERS_AGAIN]
    if own:
        yield f"mend {_named('the grader', own)}"
    if len(own) < len(broken):
        yield "wait until the judge answers again"
    if not summary.complete and not is_graded and (code := _error_code(summary)):
        yield _mended(code)


def _named(noun: str, names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{noun}{'s' if len(names) > 1 else ''} {', '.join(names[:_MOST_NAMED])}{more}"


def _with_place(one: BrokenGrader) -> str:
    return f"{one.grader}{split_place(one.evidence)[1]}"


def _code(evidence: str) -> str:
    return evidence.partition(":")[0]


def _error_code(summary: Summary) -> str | None:
    """Return how the first trial ended that could not be driven."""
    found = (one for one in summary.first_failures if one.status == "target_error")
    return next((_code(one.evidence) for one in found), None)


def _mended(code: str) -> str:
    if code in _ANSWERS_AGAIN:
        return "wait until the provider answers again"
    what = {
        "provider": "what the provider refuses",
        "suite": "what the suite brings along",
        "harness": "the target",
    }
    return f"mend {what.get(ORIGINS.get(code, 'harness'), 'its cause')} ({code.replace('_', ' ')})"


def _resuming(folder: Path, summary: Summary, manifest: Manifest) -> str | None:
    if manifest.suite_file is None:
        return None
    has_errors = summary.broken_graders or any(one.errors for one in summary.models.values())
    again = ["--retry-errors"] if has_errors else []
    return shlex.join(["regrade", "run", "--resume", shown_path(folder), *again])


def _grading(folder: Path, summary: Summary, manifest: Manifest) -> str | None:
    """Return what grades the trials of the run again; what lacks some begins with their source."""
    if _missing(summary) > 0:
        source = manifest.graded_from
        named = {"latest": source} if isinstance(source, str) else {}
        words = [named.get(word, word) for word in manifest.command]
        return shlex.join(words) if words[:2] == ["regrade", "grade"] else None
    if manifest.suite_file is None:
        return None
    parameters = [f"--param={one}" for one in manifest.parameters]
    return shlex.join(["regrade", "grade", shown_path(folder), *parameters])
