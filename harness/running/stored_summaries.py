"""The summary of a stored run: as it was written, or made again where a kill came first."""

from pathlib import Path

from harness.measuring.summing import Tally, summarise
from harness.running.first_failures import FirstFailures
from harness.storing.counted_trials import counted_trials
from harness.storing.manifests import read_manifest, read_summary
from harness.storing.run_folders import SUMMARY
from harness.storing.run_locks import holder_of
from harness.storing.trial_log import outcome_of
from harness.types.suites import Limits, Suite
from harness.types.summaries import Summary


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
    failures, notes = FirstFailures(), dict[str, None]()
    for index, trial in enumerate(counted_trials(folder, lambda note: notes.update({note: None}))):
        tally.add(outcome_of(trial))
        failures.add(index, trial)
    return summarise(
        tally,
        Suite(name=manifest.suite, limits=Limits(**manifest.limits), errors=errors),
        run_id=manifest.run_id,
        planned=manifest.planned,
        failures=failures.first(),
        reasons=[f"the run is still under way: {holder}" if holder else "the run was killed"],
        warnings=notes,
    )
