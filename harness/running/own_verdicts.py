"""The verdict that a run got as it ended, against the baseline that it was given then."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.storing.night_outcomes import NightRecord
from harness.storing.stored_verdicts import stored_verdicts
from harness.types.errors import StoreError
from harness.types.verdicts import SUITE_ORDER, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnVerdicts:
    """The verdicts that runs got as they ended, by run id, and why some cannot be read."""

    verdicts: Mapping[str, Verdict]
    warnings: tuple[str, ...] = ()


def own_verdicts(nights: Iterable[NightRecord], model: str) -> OwnVerdicts:
    """Return the verdicts on a model of those nights that were compared."""
    verdicts, warnings = dict[str, Verdict](), list[str]()
    for night in nights:
        try:
            verdict = own_verdict(night.folder, model)
        except StoreError as error:
            warnings.append(error.line)
        else:
            verdicts |= {night.manifest.run_id: verdict} if verdict else {}
    return OwnVerdicts(verdicts=verdicts, warnings=tuple(warnings))


def own_verdict(folder: Path, model: str) -> Verdict | None:
    """Return the gravest verdict on a model of a run; None where it was not compared.

    Raises:
        StoreError: its comparison cannot be read.
    """
    found = stored_verdicts(folder)
    compared = found.comparisons if found else ()
    own = [one.verdict.verdict for one in compared if one.candidate.model == model]
    return next((verdict for verdict in SUITE_ORDER if verdict in own), None)
