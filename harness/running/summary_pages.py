"""The page `summary.md` of a run directory: why the run is as it is, on one screen."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from harness.reports.summary_markdown import summary_markdown
from harness.running.explaining import explain
from harness.running.held_trials import held_summary
from harness.storing.run_folders import COMPARISON, SUMMARY_PAGE
from harness.system.files import write_whole
from harness.types.comparisons import Comparison, Comparisons
from harness.types.errors import StoreError
from harness.types.explanations import Explanation
from harness.types.summaries import Summary


def write_summary_page(
    folder: Path, summary: Summary, comparisons: Sequence[Comparison] = ()
) -> Explanation:
    """Explain a run and write `summary.md`; give the explanation.

    Raises:
        StoreError: the page cannot be written.
    """
    explanation = explain(folder, summary, comparisons)
    path = folder / SUMMARY_PAGE
    try:
        write_whole(path, summary_markdown(explanation))
    except OSError as error:
        raise StoreError(f"cannot write: {error.strerror}", place=str(path)) from error
    return explanation


def explained(folder: Path) -> tuple[Summary, Explanation]:
    """Return the summary of a stored run, and what explains it; also what it was compared with.

    Raises:
        StoreError: the run, or its comparison, cannot be read.
    """
    compared = _compared(folder / COMPARISON)
    summary = with_comparison(held_summary(folder), compared)
    return summary, explain(folder, summary, compared.comparisons)


def _compared(path: Path) -> Comparisons:
    if not path.is_file():
        return Comparisons()
    try:
        return msgspec.json.decode(path.read_bytes(), type=Comparisons)
    except (OSError, msgspec.MsgspecError) as error:
        raise StoreError(f"no comparison of Regrade: {error}", place=str(path)) from error


def is_missing(compared: Comparisons) -> bool:
    """Say whether a run should have been compared as it ended, and could not be."""
    return bool(compared.problems) or (compared.first_night and compared.exit_code != 0)


def with_comparison(summary: Summary, compared: Comparisons) -> Summary:
    """Return a summary that says, where a run should have been compared and was not, why."""
    if not is_missing(compared):
        return summary
    whys = [f"it was not compared with its baseline: {why}" for why in compared.problems]
    if not whys:
        whys = [f"it should have been compared, and {compared.missing or 'there is no baseline'}"]
    reasons = (*whys, *summary.reasons)
    return msgspec.structs.replace(summary, complete=False, passed=False, reasons=reasons)
