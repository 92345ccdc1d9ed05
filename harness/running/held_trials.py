"""Whether the log of a run holds the trials that its summary counts."""

from collections import Counter
from pathlib import Path

import msgspec

from harness.running.stored_summaries import summary_of
from harness.storing.counted_outcomes import CountedOutcomes
from harness.storing.run_folders import SUMMARY, TRIALS
from harness.system.shown_numbers import counted
from harness.types.errors import StoreError
from harness.types.summaries import Summary


def held_summary(folder: Path) -> Summary:
    """Return the summary of a run; one whose log does not hold what it counts is not complete.

    Raises:
        StoreError: the summary cannot be read, or not be made again where there is none.
    """
    summary = summary_of(folder)
    if not (folder / SUMMARY).is_file() or not (lost := _lost(folder, summary)):
        return summary
    reasons = (lost, *summary.reasons)
    return msgspec.structs.replace(summary, complete=False, passed=False, reasons=reasons)


def _lost(folder: Path, summary: Summary) -> str:
    """Say what the log does not hold; empty where it holds everything."""
    trials, passed = Counter[str](), Counter[str]()
    try:
        for _, one in CountedOutcomes(folder):
            trials[one.model] += 1
            passed[one.model] += one.passed is True
    except StoreError as error:
        return f"its {TRIALS} cannot be read ({error.line})"
    told = {name: model.trials for name, model in summary.models.items() if model.trials}
    if trials != told:
        of = f"{sum(trials.values()):,} of the {counted(sum(told.values()), 'trial')}"
        return f"its {TRIALS} holds {of} that {SUMMARY} counts"
    wins = {name: model.passed for name, model in summary.models.items()}
    if any(passed[name] != wins[name] for name in wins):
        of = f"{sum(passed.values()):,} trials that passed, {SUMMARY} counts"
        return f"its {TRIALS} holds {of} {sum(wins.values()):,}"
    return ""
