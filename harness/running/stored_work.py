"""What a run that is resumed holds already, and what is left to do with each trial of its plan."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from harness.grading.grade_keys import grade_key
from harness.loading.sample_slices import slices_of
from harness.running.broken_grades import BrokenGrades
from harness.running.first_failures import FirstFailures
from harness.running.plans import PlannedTrial
from harness.running.stored_costs import PastTrial, past_trials
from harness.running.uncounted_usage import UncountedUsage
from harness.running.unmatched_options import UnmatchedOptions
from harness.storing.counted_trials import TrialName
from harness.storing.log_repair import all_outcomes, mend_outcomes
from harness.storing.stored_index import (
    StoredIndex,
    StoredTrial,
    driven_mark,
    graded_mark,
    sliced_mark,
)
from harness.storing.unplanned_trials import write_unplanned
from harness.types.samples import Sample
from harness.types.suites import GraderSpec, Suite
from harness.types.trajectories import Usage
from harness.types.trials import INTERRUPTED, Outcome, Trial

_KEEP, _GRADE, _DRIVE = range(3)
_SHOWN = 5


class StoredWork:
    """The trials of a run directory, held against a plan.

    `failures`, `unmatched` and `faulty` are what the kept trials say of themselves, as a recording
    gathers it. It takes some fifty bytes a trial.

    Raises:
        StoreError: the stored trials cannot be read.
    """

    def __init__(
        self, folder: Path, index: StoredIndex, suite: Suite, *, retry_errors: bool
    ) -> None:
        self.failures = FirstFailures(suite.graders)
        self.unmatched = UnmatchedOptions(suite.graders)
        self.faulty: dict[str, GraderSpec] = {}
        self._folder, self._index, self._suite = folder, index, suite
        self._retry_errors = retry_errors
        self._todo = bytearray()
        self._are_mended = False
        self._keeps_broken = False
        self._kept, self._planned = bytearray(len(index)), bytearray(len(index))

    def survey(self, plan: Iterable[PlannedTrial]) -> None:
        """Decide on every trial of the plan."""
        for planned in plan:
            stored = self._index.find(planned.sample.id, planned.model, planned.epoch)
            self._todo.append(_DRIVE if stored is None else self._decide(planned, stored))
            if stored is not None:
                self._planned[stored.line] = 1
                if self._todo[-1] == _KEEP:
                    self._keep(planned, stored)

    def _decide(self, planned: PlannedTrial, stored: StoredTrial) -> int:
        target = self._suite.target
        drive = target.fingerprint if target else ""
        if stored.driven != driven_mark(drive, planned.sample_key):
            return _DRIVE
        # What is graded again is sliced again, too.
        is_sliced = stored.sliced == sliced_mark(slices_of(planned.sample, self._suite.slices))
        if stored.status == "target_error":
            return _DRIVE if self._retry_errors else _KEEP if is_sliced else _GRADE
        if not stored.is_driven:
            return _DRIVE
        holds = stored.graded == self._graded_mark(planned.sample)
        is_over = stored.status != INTERRUPTED
        is_retried = self._retry_errors and stored.is_broken
        return _KEEP if holds and is_sliced and is_over and not is_retried else _GRADE

    def _graded_mark(self, sample: Sample) -> int:
        specs = (*self._suite.graders, *sample.graders)
        return graded_mark([(spec.name, grade_key(spec, sample)) for spec in specs])

    def _keep(self, planned: PlannedTrial, stored: StoredTrial) -> None:
        self._kept[stored.line] = 1
        self._keeps_broken = self._keeps_broken or stored.is_broken
        of_sample = planned.sample.graders
        if of_sample:
            self.faulty |= {spec.name: spec for spec in of_sample if spec.fault}
        is_first = stored.has_failed and self.failures.takes(planned.index, planned.model)
        watched = self.unmatched.watches(of_sample)
        if is_first or watched:
            trial = self._index.read(stored.line)
            if is_first:
                # As in a recording: what `redact` takes out may stand in the sample.
                told = None if self._suite.redact else planned.sample
                self.failures.add(planned.index, trial, told)
            if watched:
                self.unmatched.add(trial, of_sample)

    @cached_property
    def uncounted(self) -> UncountedUsage:
        """Gather what the lines that are not kept used; what is graded again is still to count.

        Raises:
            StoreError: they cannot be read.
        """
        uncounted = UncountedUsage()
        for line, kept in enumerate(self._kept):
            if not kept:
                uncounted.leave_out(self._index.read(line))
        if all(self._kept):
            return uncounted
        for line, outcome in enumerate(self._outcomes()):
            if self._kept[line] and uncounted.shares(outcome):
                uncounted.count(self._index.read(line))
        return uncounted

    @property
    def broken(self) -> BrokenGrades:
        """Gather how graders broke on the kept trials.

        Raises:
            StoreError: they cannot be read.
        """
        broken = BrokenGrades()
        for line, outcome in enumerate(self._outcomes() if self._keeps_broken else ()):
            errors = (name for name, grade in outcome.grades.items() if grade[2] == "error")
            if self._kept[line] and any(broken.takes(name, line) for name in errors):
                broken.add(line, self._index.read(line))
        return broken

    @property
    def spent(self) -> Usage:
        """Sum what all lines used, those included that do not count any more: it was billed."""
        total = self.uncounted.total
        for one in self.kept_outcomes():
            total += one.usage + (one.judge_usage or Usage())
        return total

    @property
    def past(self) -> Iterator[PastTrial]:
        """Return what the stored trials cost one by one, those included that count no more."""
        return past_trials(self._folder)

    @property
    def kept(self) -> int:
        """Count the trials that are kept as they are."""
        return self._todo.count(_KEEP)

    @property
    def graded(self) -> int:
        """Count the trials that are graded again."""
        return self._todo.count(_GRADE)

    @property
    def driven(self) -> int:
        """Count the trials that are driven."""
        return self._todo.count(_DRIVE)

    @property
    def is_done(self) -> bool:
        """Say whether every trial of the plan is kept."""
        return self.kept == len(self._todo)

    def left(self, plan: Iterator[PlannedTrial]) -> Iterator[PlannedTrial]:
        """Return the trials of the plan that are to be driven or graded, in their order."""
        if self.is_done:
            return iter(())
        return (planned for planned in plan if self._todo[planned.index] != _KEEP)

    def is_only_graded(self, planned: PlannedTrial) -> bool:
        """Say whether a trial is only to be graded again."""
        return self._todo[planned.index] == _GRADE

    def graded_before(self, planned: PlannedTrial) -> Trial | None:
        """Return a stored trial that is to be graded again; None for one that is to be driven.

        Raises:
            StoreError: it cannot be read any more.
        """
        if self._todo[planned.index] != _GRADE:
            return None
        stored = self._index.find(planned.sample.id, planned.model, planned.epoch)
        return None if stored is None else self._index.read(stored.line)

    def kept_outcomes(self) -> Iterator[Outcome]:
        """Return the outcomes of the trials that are kept, in the order in which they ended.

        Raises:
            StoreError: they cannot be read.
        """
        return (one for one, kept in zip(self._outcomes(), self._kept, strict=False) if kept)

    def _outcomes(self) -> Iterator[Outcome]:
        if not self._are_mended:
            mend_outcomes(self._folder)
            self._are_mended = True
        return all_outcomes(self._folder)

    def revised(self, trial: Trial) -> Trial:
        """Return a trial with a revision above that of the stored one whose place it takes."""
        stored = self._index.find(trial.sample_id, trial.model, trial.epoch)
        return trial if stored is None else replace(trial, revision=stored.revision + 1)

    def leave_out_unplanned(self) -> str:
        """Let the trials that are not planned any more count no longer; return a warning of them.

        It is empty where there are none.

        Raises:
            StoreError: that cannot be written.
        """
        count = write_unplanned(self._folder, self._unplanned())
        if not count:
            return ""
        first = islice(self._unplanned(), _SHOWN)
        named = [f"{name.sample_id} on {name.model}, epoch {name.epoch}" for name in first]
        more = "; ..." if count > len(named) else ""
        return (
            f"{count} stored trials are not planned any more and do not count: "
            f"{'; '.join(named)}{more}"
        )

    def _unplanned(self) -> Iterator[TrialName]:
        for line in sorted(self._index.last_lines()):
            if not self._planned[line] and self._index.status_at(line) != INTERRUPTED:
                trial = self._index.read(line)
                yield TrialName(trial.sample_id, trial.model, trial.epoch)


def driven_trial(trial: Trial) -> Trial:
    """Return a stored trial as one that was driven, where its graders alone were cut off."""
    if trial.status != INTERRUPTED:
        return trial
    return replace(trial, status="completed", error=None)
