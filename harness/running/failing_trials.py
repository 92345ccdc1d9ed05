"""The failing trials of a stored run, each with a trial of the same sample that passed."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from harness.running.first_failures import failed_of
from harness.running.run_manifests import observed_graders
from harness.storing.counted_outcomes import CountedOutcomes, FoundTrials
from harness.storing.counted_trials import first_by_name
from harness.storing.manifests import read_manifest
from harness.types.events import ToolCall
from harness.types.summaries import FailedTrial
from harness.types.trials import Outcome, Trial

_K = TypeVar("_K")

MOST_LOOKED_AT = 1_000
"""Failing trials that are read, spread evenly over all, where there are more."""

_MOST_USUAL = 20


class _Known(NamedTuple):
    """A trial of the log: its names, and at which index it stands there."""

    model: str
    sample_id: str
    epoch: int
    at: int


class FailingTrials:
    """The failing trials of a run, in the order of model, sample and epoch.

    Raises:
        StoreError: the run cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        outcomes = CountedOutcomes(folder)
        failing: list[_Known] = []
        self._undecided = set(observed_graders(read_manifest(folder)))
        for index, outcome in outcomes:
            if outcome.passed is True:
                self._undecided.update(_failing_grades(outcome))
            elif not (outcome.status == "completed" and outcome.passed is None):
                failing.append(_known(index, outcome))
        self._chosen = _spread(sorted(failing), MOST_LOOKED_AT)
        self._passing: dict[tuple[str, str | None], _Known] = {}
        self._of_models: dict[str, _Known] = {}
        self._find_passing(outcomes, {one.sample_id for one in self._chosen})
        partners = {found.at for one in self._chosen if (found := self._partner(one))}
        wanted = {one.at for one in (*self._chosen, *self._of_models.values())}
        self._trials = FoundTrials(folder, wanted | partners)
        self.usual_tools = self._usual(sorted(partners) or [one.at for one in self._first()])

    def _find_passing(self, outcomes: Iterable[tuple[int, Outcome]], samples: set[str]) -> None:
        for index, outcome in outcomes:
            if outcome.passed is not True:
                continue
            known = _known(index, outcome)
            _keep_first(self._of_models, known.model, known)
            if known.sample_id in samples:
                _keep_first(self._passing, (known.sample_id, known.model), known)
                _keep_first(self._passing, (known.sample_id, None), known)

    def _first(self) -> list[_Known]:
        return sorted(self._of_models.values())

    def _partner(self, one: _Known) -> _Known | None:
        """Return a trial of the sample that passed: on the same model, else on another."""
        of_model = self._passing.get((one.sample_id, one.model))
        return of_model or self._passing.get((one.sample_id, None))

    def _usual(self, indices: list[int]) -> tuple[str, ...]:
        """Return the tools that the passing trials call, most called first."""
        called: Counter[str] = Counter()
        for index in indices[:_MOST_USUAL]:
            events = self._trials.read(index).trajectory.events()
            called.update({event.name for event in events if isinstance(event, ToolCall)})
        return tuple(sorted(called, key=lambda name: (-called[name], name)))

    def read(self) -> Iterator[tuple[Trial, FailedTrial, Trial | None]]:
        """Read the trials that were chosen, each with why it failed and one that passed."""
        for one in self._chosen:
            trial = self._trials.read(one.at)
            partner = self._partner(one)
            passing = self._trials.read(partner.at) if partner else None
            yield trial, failed_of(trial, observed=self._undecided), passing

    def served(self) -> Iterator[tuple[str, set[str]]]:
        """Say by model who answered in one trial that passed and in one that did not."""
        first_failing = {one.model: one for one in reversed(self._chosen)}
        for one in (*self._of_models.values(), *first_failing.values()):
            yield one.model, _answering(self._trials.read(one.at))


def served_at_first(folder: Path) -> Iterator[tuple[str, set[str]]]:
    """Say by model who answered in the first trials of a run, by sample.

    Raises:
        StoreError: the run cannot be read.
    """
    for trial in first_by_name(folder, _MOST_USUAL):
        yield trial.model, _answering(trial)


def _answering(trial: Trial) -> set[str]:
    steps = (step for turn in trial.trajectory.turns for step in turn.steps)
    return {step.model for step in steps if step.model is not None}


def _known(index: int, outcome: Outcome) -> _Known:
    return _Known(outcome.model, outcome.sample_id, outcome.epoch, index)


def _failing_grades(outcome: Outcome) -> Iterator[str]:
    """Return the graders that failed in a trial that passed: they do not decide alone."""
    return (name for name, (_, passed, _) in outcome.grades.items() if passed is False)


def _keep_first(kept: dict[_K, _Known], key: _K, known: _Known) -> None:
    if key not in kept or known < kept[key]:
        kept[key] = known


def _spread(known: list[_Known], most: int) -> list[_Known]:
    if len(known) <= most:
        return known
    return [known[place * len(known) // most] for place in range(most)]
