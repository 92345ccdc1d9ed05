"""What a run and a replay have in common: every trial is stored, counted and told as it ends."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.measuring.summing import Tally, summarise
from harness.running.first_failures import FirstFailures
from harness.running.plans import PlannedTrial
from harness.running.workers import Stop
from harness.storing.manifests import write_summary
from harness.storing.trial_log import TrialLog, outcome_of
from harness.types.errors import DatasetError, Fault, StoreError, TargetError
from harness.types.progress import Observer, Progress
from harness.types.suites import Suite
from harness.types.summaries import Summary
from harness.types.trials import Trial

_WARNINGS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """Where a run is stored, and its numbers; `interrupted` says that it was asked to end."""

    folder: Path
    summary: Summary
    interrupted: bool


class Recording:
    """The run directory of a run that goes on, and the numbers so far."""

    def __init__(
        self, suite: Suite, folder: Path, *, models: tuple[str, ...], planned: int | None
    ) -> None:
        self._suite, self._folder, self._planned = suite, folder, planned
        names = [spec.name for spec in suite.graders]
        self._tally = Tally(names, models, epochs=suite.epochs)
        self._failing = FirstFailures(suite.graders)
        self._warnings = dict.fromkeys(map(str, suite.warnings))
        self._progress = Progress(planned)
        self._log: TrialLog | None = None
        self._observer: Observer | None = None

    async def record(
        self, work: Callable[[], Awaitable[None]], observer: Observer, stop: Stop
    ) -> RunResult:
        """Do the work, during which trials are stored; then sum up, however it ended.

        What ends the whole run (no run fixture, a full disk, a dataset that changes meanwhile)
        becomes a reason for which the run is incomplete.
        """
        self._observer = observer
        observer.began(self._folder, self._progress)
        reasons: list[str] = []
        try:
            with TrialLog(self._folder) as self._log:
                await work()
        except (StoreError, TargetError, DatasetError) as error:
            reasons.append(error.line)
        finally:
            observer.ended()
        if stop.reason:
            reasons.append(stop.reason)
        summary = self._sum_up(reasons)
        write_summary(self._folder, summary)
        return RunResult(folder=self._folder, summary=summary, interrupted=bool(stop.reason))

    def store(self, task: PlannedTrial, trial: Trial) -> None:
        """Store and count the trial of a task."""
        outcome = outcome_of(trial)
        if self._log is not None:
            self._log.append(trial, outcome)
        self._tally.add(outcome)
        self._failing.add(task.index, trial, task.sample)
        self._progress = self._progress.after(outcome)
        if self._observer is not None:
            self._observer.moved(self._progress)

    def note_all(self, faults: Iterable[Fault]) -> None:
        """Take what a dataset warns of."""
        for fault in faults:
            self.note(str(fault))

    def note(self, text: str) -> None:
        """Take a warning for the summary; the same one is told once."""
        if len(self._warnings) < _WARNINGS:
            self._warnings[text] = None

    def _sum_up(self, reasons: list[str]) -> Summary:
        return summarise(
            self._tally,
            self._suite,
            run_id=self._folder.name,
            planned=self._planned,
            failures=self._failing.first(),
            reasons=reasons,
            warnings=self._warnings,
        )
