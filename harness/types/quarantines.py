"""Quarantine: samples that run and are shown, but do not gate, for a while."""

from dataclasses import dataclass
from datetime import date

QUARANTINE_SHARE = 0.1
"""The most of a suite's samples that may be quarantined."""

QUARANTINE_DAYS = 14
"""How long a quarantine lasts, a night a day."""

QUARANTINE_FILE = "quarantine.yaml"
"""The file beside a suite that holds its quarantined samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantineEntry:
    """One quarantined sample, from the day `since` to the day before `ends`.

    Without `model` it is so on every model. `key` is what the sample was given and graded by; under
    another one the quarantine has ended. `reason` is for readers.
    """

    sample: str
    since: date
    ends: date
    model: str | None = None
    key: str | None = None
    reason: str = ""
