"""What a run and a replay have in common: every trial is stored and counted as it ends."""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from harness.grading.worker_processes import worker_processes
from harness.measuring.summing import Tally, summarise
from harness.running.broken_grades import BrokenGrades
from harness.running.first_failures import FirstFailures
from harness.running.gated_trials import GatedTrials
from harness.running.grader_scripts import connected_graders
from harness.running.plans import PlannedTrial
from harness.running.stored_work import StoredWork
from harness.running.summary_pages import write_summary_page
from harness.running.trial_redaction import TrialRedaction
from harness.running.uncounted_usage import UncountedUsage
from harness.running.unmatched_options import UnmatchedOptions
from harness.running.workers import Stop
from harness.storing.manifests import write_summary
from harness.storing.trial_log import TrialLog, outcome_of
from harness.system.clock import now
from harness.system.redaction import redact
from harness.system.texts import error_line
from harness.types.errors import DatasetError, Fault, StoreError, TargetError
from harness.types.prices import PriceList
from harness.types.progress import Observer, Progress, Slowed, Undisturbed
from harness.types.suites import GraderSpec, Suite
from harness.types.summaries import FailedTrial, Summary
from harness.types.trials import INTERRUPTED, Trial

_MOST_WARNINGS = 20
_Work = Callable[[], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """Where a run is stored, and its numbers; `interrupted` says that it was asked to stop."""

    folder: Path
    summary: Summary
    interrupted: bool


class Warnings:
    """The warnings of a run, without secrets: each once, and twenty at most."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = tuple(secrets)
        self._texts: dict[str, None] = {}

    def __iter__(self) -> Iterator[str]:
        """Return them in the order in which they came."""
        return iter(self._texts)

    def add(self, text: str) -> None:
        """Add one."""
        text = redact(text, self._secrets)
        if len(self._texts) < _MOST_WARNINGS:
            self._texts[text] = None
        elif text not in self._texts:
            self._texts["there are further warnings"] = None


class Recording:
    """A run directory that is being written, and the numbers so far.

    `models` are those that the summary lists even without a trial; `planned` is how many trials
    there are to be, None where that is not known. `kept` are trials of a resumed run.

    Raises:
        StoreError: the log cannot be opened.
    """

    def __init__(  # noqa: PLR0913  (what a run and a replay each know beforehand)
        self,
        suite: Suite,
        folder: Path,
        *,
        models: tuple[str, ...],
        planned: int | None,
        observer: Observer,
        warnings: Warnings | None = None,
        kept: StoredWork | None = None,
    ) -> None:
        self._suite, self._folder, self._planned = suite, folder, planned
        self._absolute = folder.absolute()
        names = (spec.name for spec in suite.graders)
        self._tally = Tally(names, models, epochs=suite.epochs, errors=suite.errors)
        self._gated = GatedTrials(suite, models, now().date())
        self._kept = kept
        self._failures = kept.failures if kept else FirstFailures(suite.graders)
        self._broken = kept.broken if kept else BrokenGrades()
        self._faulty: dict[str, GraderSpec] = dict(kept.faulty) if kept else {}
        self._unmatched = kept.unmatched if kept else UnmatchedOptions(suite.graders)
        self._watches_options = self._unmatched.watches()
        self._warnings = warnings or Warnings(suite.secrets)
        self.warn_of(suite.warnings)
        self._progress = Progress(planned)
        self._uncounted = kept.uncounted if kept else UncountedUsage()
        for outcome in kept.kept_outcomes() if kept else ():
            self._tally.add(outcome)
            self._gated.add(outcome)
            self._progress = self._progress.after(outcome)
        self._observer = Undisturbed(observer)
        self.redaction = TrialRedaction(suite)
        self._log = TrialLog(folder)

    async def record(
        self,
        work: _Work,
        stop: Stop,
        close: Callable[[], Awaitable[None]] | None = None,
        prices: PriceList | None = None,
    ) -> RunResult:
        """Do the work, which stores trials here; then sum up, however it ended.

        What ends the whole run (no run fixture, a full disk, a dataset that changed meanwhile)
        becomes a reason for which the run is incomplete. `close` ends what the work has used; what
        is warned of meanwhile is added to the summary. `prices` knows what judges cost.
        """
        self._observer.began(self._folder, self._progress)
        reasons: list[str] = []
        try:
            with self._log:
                async with (
                    worker_processes(self._suite.limits.concurrency),
                    connected_graders(self._suite, self.warn, prices),
                ):
                    await stop.guard(work())
        except (StoreError, TargetError, DatasetError) as error:
            reasons.append(redact(error.line, self._suite.secrets))
        except Exception as error:
            # A mistake of ours: it is told as such, and what was done can be looked at.
            line = redact(f"Regrade itself failed: {error_line(error)}", self._suite.secrets)
            self._written(self._summarise([*reasons, line]))
            raise
        finally:
            self._observer.ended()
        reasons += [redact(shortfall, self._suite.secrets) for shortfall in stop.shortfalls]
        # Whoever asks from here on asks too late: the run has ended.
        interrupted = bool(stop.reason)
        if interrupted:
            reasons.append(stop.reason)
        for warning in self._unmatched.warnings():
            self.warn(warning)
        summary = self._written(self._summarise(reasons))
        if close is not None:
            # The summary stands already: closing may take long, and be broken off.
            await self._close(close)
            if set(self._warnings).difference(summary.warnings):
                summary = self._written(self._summarise(reasons))
        return RunResult(folder=self._folder, summary=summary, interrupted=interrupted)

    async def _close(self, close: Callable[[], Awaitable[None]]) -> None:
        try:
            await close()
        except TargetError as error:
            self.warn(error.line)

    def _written(self, summary: Summary) -> Summary:
        try:
            # An agent may have changed the current directory.
            write_summary(self._absolute, summary)
        except StoreError as error:
            # The numbers are still shown, though nobody can read them later.
            reasons = (*summary.reasons, error.line)
            return msgspec.structs.replace(summary, complete=False, passed=False, reasons=reasons)
        try:
            write_summary_page(self._absolute, summary)
        except StoreError as error:
            warnings = (*summary.warnings, error.line)
            return msgspec.structs.replace(summary, warnings=warnings)
        return summary

    def store(self, planned: PlannedTrial, trial: Trial) -> None:
        """Store and count a trial that has ended, without what must not be stored.

        Raises:
            StoreError: it cannot be written, or the suite's `redact` has failed.
        """
        trial = self.redaction.storable(trial)
        if self._kept is not None:
            trial = self._kept.revised(trial)
        outcome = outcome_of(trial)
        self._log.append(trial, outcome)
        if trial.status == INTERRUPTED:
            self._uncounted.leave_out(trial)
            return  # it is in no other number, and missing
        self._uncounted.count(trial)
        self._tally.add(outcome)
        self._gated.add(outcome)
        # What a function takes out of trials may stand in their samples, which it does not see.
        told = None if self._suite.redact else planned.sample
        self._failures.add(planned.index, trial, told)
        self._broken.add(planned.index, trial)
        own = planned.sample.graders
        if own:
            self._faulty |= {spec.name: spec for spec in own if spec.fault}
        if own or self._watches_options:
            self._unmatched.add(trial, own)
        self._progress = self._progress.after(outcome)
        self._observer.moved(self._progress)

    def count_waiting(self, change: int) -> None:
        """Count a trial that begins (1) or ends (-1) to wait for its endpoint."""
        waiting = self._progress.waiting + change
        self._progress = msgspec.structs.replace(self._progress, waiting=waiting)
        self._observer.moved(self._progress)

    def show_slowed(self, slowed: Slowed) -> None:
        """Show which models have fewer trials in flight than the suite allows."""
        self._progress = msgspec.structs.replace(self._progress, slowed=slowed)
        self._observer.moved(self._progress)

    def warn(self, text: str) -> None:
        """Add a warning to the summary; the same one is kept once, and twenty at most."""
        self._warnings.add(text)

    def warn_of(self, faults: Iterable[Fault]) -> None:
        """Add what a dataset warns of."""
        for fault in faults:
            self.warn(str(fault))

    def _summarise(self, reasons: list[str]) -> Summary:
        gated = self._gated.settle()
        summary = summarise(
            self._tally,
            self._suite,
            run_id=self._folder.name,
            planned=self._planned,
            failures=map(self._shown, self._failures.first()),
            reasons=reasons,
            warnings=(*self._warnings, *gated.remarks),
            of_samples=self._faulty.values(),
            gated=gated.tally,
            broke=self._broken.first(),
        )
        return self._uncounted.added_to(summary)

    def _shown(self, failed: FailedTrial) -> FailedTrial:
        """Take secrets out of what a sample wants; all else is the trial's."""
        wanted = None if failed.wanted is None else self.redaction.text(failed.wanted)
        return msgspec.structs.replace(failed, wanted=wanted)
