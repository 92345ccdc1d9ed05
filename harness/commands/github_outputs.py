"""What a job of GitHub Actions shows beside its log: the page of the run, and annotations."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from harness.reports.github_annotations import annotated_samples, github_annotations
from harness.reports.markdown_spans import code_span
from harness.running.sample_places import places_of
from harness.storing.manifests import read_manifest
from harness.system.redaction import redact
from harness.system.texts import one_line
from harness.types.errors import HarnessError, InputError, StoreError
from harness.types.explanations import Explanation
from harness.types.summaries import Summary

_STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
_MOST_FAULTS = 20


def has_step_summary() -> bool:
    """Say whether there is a summary of the step to add to."""
    return bool(os.environ.get(_STEP_SUMMARY))


def add_to_step_summary(text: str) -> None:
    """Append Markdown to the summary of the job's step, where a job of GitHub runs the command.

    A summary that cannot be written is told on standard error, and changes nothing else.
    """
    path = os.environ.get(_STEP_SUMMARY)
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8", newline="\n") as file:
            file.write(f"{redact(text)}\n")
    except OSError as error:
        with suppress(OSError):
            line = f"note: {_STEP_SUMMARY} cannot be written: {error.strerror}"
            click.echo(one_line(line), err=True)


@contextmanager
def told_to_github(what: str) -> Iterator[None]:
    """Tell in the summary of the step, too, by what error a command ends; `what` it was given."""
    try:
        yield
    except HarnessError as error:
        faults = error.faults if isinstance(error, InputError) else ()
        lines = [str(fault) for fault in faults] or [error.line]
        shown = [f"- {code_span(line, 500)}" for line in lines[:_MOST_FAULTS]]
        if len(lines) > _MOST_FAULTS:
            shown.append(f"- and {len(lines) - _MOST_FAULTS} more")
        title = f"## {code_span(what)}: ENDED IN AN ERROR"
        add_to_step_summary("\n".join([title, "", *shown]))
        raise


def is_github() -> bool:
    """Say whether a job of GitHub Actions runs the command."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def annotation_lines(folder: Path, summary: Summary, explanation: Explanation) -> list[str]:
    """Return the annotations of a run, at lines as they stand in the repository."""
    root = os.environ.get("GITHUB_WORKSPACE")
    ids = annotated_samples(summary, explanation)
    try:
        places = places_of(read_manifest(folder), ids, Path(root) if root else None)
    except StoreError:
        places = {}  # they are shown without their lines
    return list(github_annotations(summary, explanation, places))
