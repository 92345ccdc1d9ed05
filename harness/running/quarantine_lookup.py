"""The quarantined samples of a stored run, by the file beside the suite that it was made of."""

from datetime import date
from pathlib import Path

from harness.loading.quarantine_files import read_quarantine
from harness.measuring.quarantine_rules import QuarantineRuling, rule_quarantine
from harness.storing.manifests import Manifest
from harness.storing.night_outcomes import read_night
from harness.types.quarantines import QUARANTINE_FILE


def quarantine_beside(manifest: Manifest) -> Path | None:
    """Return where the quarantined samples of a run's suite are; None where the suite is not."""
    if manifest.suite_file is None or not Path(manifest.suite_file).is_file():
        return None
    return Path(manifest.suite_file).parent / QUARANTINE_FILE


def quarantined_in(
    folder: Path, manifest: Manifest, model: str, today: date
) -> QuarantineRuling | None:
    """Return which samples of one model of a run are quarantined on a day; None where none is.

    Raises:
        SuiteError: the file has faults.
        StoreError: the run cannot be read.
    """
    path = quarantine_beside(manifest)
    entries = read_quarantine(path) if path else ()
    if not entries:
        return None
    samples = read_night(folder, manifest).models.get(model, {})
    keys = {name: one.key for name, one in samples.items()}
    return rule_quarantine(entries, model, keys, today)
