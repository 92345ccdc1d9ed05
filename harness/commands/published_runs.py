"""What a run leaves for CI as it ends: the summary of the step, annotations, JUnit XML."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from harness.commands.github_outputs import (
    add_to_step_summary,
    annotation_lines,
    has_step_summary,
    is_github,
)
from harness.reports.summary_markdown import summary_markdown
from harness.running.explaining import explain
from harness.running.summary_pages import is_missing, with_comparison, write_summary_page
from harness.system.texts import one_line
from harness.types.comparisons import Comparison, Comparisons
from harness.types.errors import StoreError
from harness.types.explanations import Explanation
from harness.types.summaries import Summary


def publish(
    folder: Path,
    summary: Summary,
    compared: Comparisons,
    *,
    junit: Path | None = None,
) -> None:
    """Tell CI of a run that has ended, and of what it was compared with.

    In a job of GitHub the page is added to the summary of the step, and annotations are printed. A
    page that cannot be written is told of, and keeps nothing else from being told.

    Raises:
        InputError: the file of JUnit XML cannot be written.
        StoreError: the run cannot be read for it.
    """
    # On a first night the page may still tell of a comparison that this one takes the place of.
    is_told = bool(compared.comparisons) or is_missing(compared) or compared.first_night
    if not (is_told or junit or is_github() or has_step_summary()):
        return  # the page stands already
    summary = with_comparison(summary, compared)
    explanation = _explained(folder, summary, compared.comparisons, is_told=is_told)
    add_to_step_summary(summary_markdown(explanation))
    if is_github():
        with suppress(OSError):
            for line in annotation_lines(folder, summary, explanation):
                click.echo(line, color=False)
    if junit is not None:
        # Loaded here: it loads a library of its own.
        from harness.commands.report import write_junit  # noqa: PLC0415

        write_junit(folder, (summary, explanation), junit)


def _explained(
    folder: Path, summary: Summary, comparisons: Sequence[Comparison], *, is_told: bool
) -> Explanation:
    if is_told:
        try:
            return write_summary_page(folder, summary, comparisons)
        except StoreError as error:
            with suppress(OSError):
                click.echo(one_line(f"note: {error.line}"), err=True)
    return explain(folder, summary, comparisons)
