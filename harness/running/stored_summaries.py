"""The summary of a stored run: as it was written, or made again where there is none."""

from pathlib import Path

import msgspec

from harness.measuring.summing import Tally, summarise
from harness.running.broken_grades import BrokenGrades
from harness.running.first_failures import FirstFailures
from harness.running.run_manifests import observed_graders
from harness.running.uncounted_usage import UncountedUsage
from harness.storing.manifests import read_manifest, read_summary
from harness.storing.named_lines import NamedLines
from harness.storing.run_folders import SUMMARY, TRIALS
from harness.storing.run_locks import holder_of
from harness.storing.trial_log import outcome_of
from harness.types.suites import Limits, Suite
from harness.types.summaries import Summary
from harness.types.trials import Trial

UNDER_WAY = "the run is still under way"
"""How the reason begins by which the numbers of a run are not its last ones."""

ENDED_EARLY = "it ended before its summary was written"
"""Why a run without a summary cannot be judged: killed, or on a full disk, which nobody knows."""

_trials = msgspec.json.Decoder(Trial)


def summary_of(folder: Path) -> Summary:
    """Return the summary of a run directory.

    Raises:
        StoreError: the run cannot be read.
    """
    if (folder / SUMMARY).is_file():
        return read_summary(folder)
    manifest = read_manifest(folder)
    holder = holder_of(folder)
    errors, names = manifest.errors, manifest.grader_keys
    tally = Tally(names, manifest.models, epochs=manifest.epochs, errors=errors)
    failures, notes, uncounted = FirstFailures(), dict[str, None](), UncountedUsage()
    broken = BrokenGrades()
    # Floats are summed and failures shown in one order, in whichever the trials have ended.
    trials = NamedLines(folder / TRIALS, lambda note: notes.update({note: None})).read(_trials)
    for index, (_, trial, counts) in enumerate(trials):
        if not counts:
            uncounted.leave_out(trial)
            continue
        uncounted.count(trial)
        tally.add(outcome_of(trial))
        failures.add(index, trial)
        broken.add(index, trial)
    summary = summarise(
        tally,
        Suite(name=manifest.suite, limits=Limits(**manifest.limits), errors=errors),
        run_id=manifest.run_id,
        planned=manifest.planned,
        failures=failures.first(),
        reasons=[f"{UNDER_WAY}: {holder}" if holder else ENDED_EARLY],
        warnings=notes,
        broke=broken.first(),
        observed=observed_graders(manifest),
    )
    return uncounted.added_to(summary)
