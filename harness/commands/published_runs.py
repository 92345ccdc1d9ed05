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
from harness.running.summary_pages import without_comparison, write_summary_page
from harness.system.texts import one_line
from harness.types.comparisons import Comparison
from harness.types.errors import StoreError
from harness.types.explanations import Explanation
from harness.types.summaries import Summary


def publish(
    folder: Path,
    summary: Summary,
    comparisons: Sequence[Comparison] | None = (),
    *,
    junit: Path | None = None,
) -> None:
    """Tell CI of a run that has ended, and of what it was compared with.

    `comparisons` are None where there should have been some, and could not be made. In a job of
    GitHub the page is added to the summary of the step, and annotations are printed. A page that
    cannot be written is told of, and keeps nothing else from being told.

    Raises:
        InputError: the file of JUnit XML cannot be written.
        StoreError: the run cannot be read for it.
    """
    if not (comparisons != () or junit or is_github() or has_step_summary()):
        return  # the page stands already
    if comparisons is None:
        summary = without_comparison(summary)
    explanation = _explained(folder, summary, comparisons)
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
    folder: Path, summary: Summary, comparisons: Sequence[Comparison] | None
) -> Explanation:
    if comparisons != ():
        try:
            return write_summary_page(folder, summary, comparisons or ())
        except StoreError as error:
            with suppress(OSError):
                click.echo(one_line(f"note: {error.line}"), err=True)
    return explain(folder, summary, comparisons or ())
