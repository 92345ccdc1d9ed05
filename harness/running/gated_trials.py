"""The trials of a run that its gates are about: all but those of quarantined samples."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from harness.measuring.quarantine_rules import QuarantineRuling, rule_quarantine
from harness.measuring.summing import Tally
from harness.running.run_manifests import judging_of
from harness.storing.night_outcomes import outcome_key
from harness.types.suites import Suite
from harness.types.trials import Outcome


@dataclass(frozen=True, slots=True)
class Gated:
    """The numbers for gates, None where they are those of all trials; what is to be said of it."""

    tally: Tally | None = None
    remarks: tuple[str, ...] = ()


class GatedTrials:
    """Counts the trials for gates; costs nothing where no sample is quarantined.

    Trials of samples that have an entry are held back until the run ends: whether the entry holds
    is known when the sample has been graded.
    """

    def __init__(self, suite: Suite, models: Sequence[str], today: date) -> None:
        self._entries, self._today = suite.quarantine, today
        self._suspects = {entry.sample for entry in self._entries}
        self._samples: set[int] = set()
        self._held: dict[str, dict[str, list[Outcome]]] = {model: {} for model in models}
        self._gated: Gated | None = None
        self._judging = judging_of(suite) if self._entries else None
        names = (spec.name for spec in suite.graders)
        self._tally = Tally(names, models, epochs=suite.epochs, errors=suite.errors)

    def add(self, outcome: Outcome) -> None:
        """Take the outcome of one trial."""
        if not self._entries:
            return
        self._samples.add(hash(outcome.sample_id))
        if outcome.sample_id in self._suspects:
            samples = self._held.setdefault(outcome.model, {})
            samples.setdefault(outcome.sample_id, []).append(outcome)
        else:
            self._tally.add(outcome)

    def settle(self) -> Gated:
        """Return the numbers for gates, the run being over; it may be asked again.

        Trials of samples whose entry does not hold are among them.
        """
        if self._entries and self._gated is None:
            self._gated = self._settled()
        return self._gated or Gated()

    def _settled(self) -> Gated:
        rulings = {model: self._ruling(model) for model in self._held}
        for model, ruling in rulings.items():
            for name in [one for one in self._held[model] if one not in ruling.in_force]:
                for outcome in self._held[model].pop(name):
                    self._tally.add(outcome)
        remarks = (line for of in rulings.items() for line in _remarks(*of))
        return Gated(self._tally, tuple(remarks))

    def _ruling(self, model: str) -> QuarantineRuling:
        keys = {name: self._key(outcomes) for name, outcomes in self._held[model].items()}
        # Of a sample that was never graded to its end it is not known that it has changed.
        entries = [
            replace(entry, key=None) if keys.get(entry.sample, "") is None else entry
            for entry in self._entries
        ]
        known = {name: key or "" for name, key in keys.items()}
        return rule_quarantine(entries, model, known, self._today, samples=len(self._samples))

    def _key(self, outcomes: Sequence[Outcome]) -> str | None:
        """Return the key of a sample; None where no trial of it was graded to its end."""
        graded = (one for one in outcomes if one.status == "completed")
        first = next(graded, None)
        return None if first is None else outcome_key(first, self._judging)


def _remarks(model: str, ruling: QuarantineRuling) -> list[str]:
    said = []
    if ruling.in_force:
        named = ", ".join(f"{name} (until {ends})" for name, ends in ruling.in_force.items())
        said.append(f"in quarantine, and in no gate on {model}: {named}")
    if ruling.beyond:
        named = ", ".join(ruling.beyond)
        said.append(f"not in quarantine, as only {ruling.limit} samples may be: {named}")
    return said
