"""A run: a suite is driven and graded, every trial stored as it ends, and the numbers summed up."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path

from harness.loading.datasets import Dataset, open_dataset
from harness.loading.linting import lints_samples
from harness.loading.validation import sample_faults
from harness.running.budget_amounts import is_limited
from harness.running.cleaning import clean_run
from harness.running.driving import Driver, Underway
from harness.running.grader_scripts import require_scripts
from harness.running.missing_parts import require_parts
from harness.running.narrowed_runs import narrowed_by
from harness.running.pacing import Pacing
from harness.running.plans import PlannedTrial, plan
from harness.running.recording import Recording, RunResult, Warnings
from harness.running.replays import regraded
from harness.running.resuming import (
    Resume,
    complete_summary,
    open_resumed,
    resumed_options,
    say_left_out,
    without_selection,
)
from harness.running.run_manifests import make_manifest
from harness.running.run_options import RunOptions, apply_options
from harness.running.scripted_models import scripted_models
from harness.running.stored_work import StoredWork, driven_trial
from harness.running.trial_making import graded_trial, interrupted_trial
from harness.running.workers import Stop, run_workers
from harness.running.worlds import Worlds
from harness.storing.manifests import write_manifest
from harness.storing.run_folders import make_run_folder, new_run_id
from harness.storing.run_locks import locked_run
from harness.system.clock import now
from harness.system.open_files import allow_open_files
from harness.system.texts import error_line, error_place
from harness.system.threads import in_thread
from harness.types.errors import StoreError
from harness.types.progress import Observer, SilentObserver
from harness.types.protocols import Connection, RunContext
from harness.types.samples import Sample
from harness.types.suites import Suite, TargetSpec


async def execute(
    suite: Suite,
    options: RunOptions,
    observer: Observer | None = None,
    stop: Stop | None = None,
    *,
    resume: Resume | None = None,
) -> RunResult:
    """Run a suite to its end, or until `stop` is asked; what is done is stored in either case.

    With `resume`, a run that is there already is gone on with: what it holds and still counts is
    kept, and options that are not chosen are those that it was made with.

    Raises:
        InputError: the suite, its dataset or its script cannot be used; nothing was stored.
        TargetError: the agents cannot be reached at all; nothing was stored.
        StoreError: the run directory cannot be made, or not be gone on with.
    """
    if resume:
        options = resumed_options(resume.folder, options)
    options = replace(options, narrowed=narrowed_by(suite, options))
    if resume:
        say_left_out(resume, suite, options)
        suite = without_selection(suite)
    suite, target = apply_options(suite, options)
    require_scripts(suite)
    options = replace(options, models=target.models)
    begun = _Beginning(suite, target, options, observer or SilentObserver(), stop or Stop())
    return await (_execute_new(begun) if resume is None else _go_on(begun, resume))


@dataclass(frozen=True, slots=True)
class _Beginning:
    """What a run is made of, before anything is done."""

    suite: Suite
    target: TargetSpec
    options: RunOptions
    observer: Observer
    stop: Stop


async def _execute_new(begun: _Beginning) -> RunResult:
    suite, options = begun.suite, begun.options
    dataset = open_dataset(suite, options.selection)
    opening = _Opening(now(), Warnings(suite.secrets), new_run_id(suite.name, now()))
    async with AsyncExitStack() as stack:
        connection = await _connect(stack, suite, begun.target, opening)
        manifest = make_manifest(
            suite, options, dataset, run_id=opening.run_id, started_at=opening.started_at
        )
        folder = make_run_folder(
            options.out, opening.run_id, lambda draft: write_manifest(draft, manifest)
        )
        with locked_run(folder, opening.warnings.add):
            recording = _recording(begun, folder, dataset, opening)
            run = _Run(suite, begun.target, dataset, recording, connection, begun.stop)
            return await recording.record(run.work, begun.stop, stack.aclose, run.pacing)


async def _go_on(begun: _Beginning, resume: Resume) -> RunResult:
    suite, target, folder = begun.suite, begun.target, resume.folder
    opening = _Opening(now(), Warnings(suite.secrets), folder.name)
    # A large log or dataset takes seconds, in which signals are heard.
    dataset = await in_thread(open_dataset, suite, begun.options.selection)
    if summary := await in_thread(complete_summary, resume, suite, begun.options, dataset):
        return RunResult(folder=folder, summary=summary, interrupted=False)
    with locked_run(folder, opening.warnings.add):
        resumed = await in_thread(open_resumed, resume, suite, begun.options, dataset)
        if summary := resumed.summary_if_done():
            return RunResult(folder=folder, summary=summary, interrupted=False)
        async with AsyncExitStack() as stack:
            connection = None
            if resumed.work.driven:
                for line in await _clean(suite, folder.name):
                    resume.say(f"deleted, left by the run that was cut off: {line}")
                connection = await _connect(stack, suite, target, opening)
            for warning in resumed.begin():
                opening.warnings.add(warning)
            recording = await in_thread(_recording, begun, folder, dataset, opening, resumed.work)
            run = _Run(suite, target, dataset, recording, connection, begun.stop, resumed.work)
            return await recording.record(run.work, begun.stop, stack.aclose, run.pacing)


@dataclass(frozen=True, slots=True)
class _Opening:
    """A run before it has a directory: agents that cannot be reached leave none behind."""

    started_at: datetime
    warnings: Warnings
    run_id: str


async def _clean(suite: Suite, run_id: str) -> Sequence[str]:
    """Delete what the run has left, unless the suite keeps its agents for their user."""
    keeps = suite.target is not None and getattr(suite.target.target, "keep_agents", False)
    return () if keeps else await clean_run(suite, run_id)


async def _connect(
    stack: AsyncExitStack, suite: Suite, target: TargetSpec, opening: _Opening
) -> Connection:
    url = await stack.enter_async_context(scripted_models(target))
    context = _run_context(suite, target, url, opening)
    require_parts(suite, target.target, context)
    return await stack.enter_async_context(target.target.connect(context))


def _run_context(
    suite: Suite, target: TargetSpec, url: str | None, opening: _Opening
) -> RunContext:
    return RunContext(
        scripted_url=url,
        fixture_names=frozenset(fixture.name for fixture in suite.fixtures),
        concurrency=suite.limits.concurrency,
        models=target.models,
        run_id=opening.run_id,
        warn=opening.warnings.add,
        folder=target.folder or (suite.source.parent if suite.source else Path()),
    )


def _recording(
    begun: _Beginning,
    folder: Path,
    dataset: Dataset,
    opening: _Opening,
    kept: StoredWork | None = None,
) -> Recording:
    suite, models = begun.suite, begun.target.models
    recording = Recording(
        suite,
        folder,
        models=models,
        planned=dataset.count * len(models) * suite.epochs,
        observer=begun.observer,
        warnings=opening.warnings,
        kept=kept,
    )
    recording.warn_of((*dataset.warnings, *dataset.notes))
    if warning := allow_open_files(suite.limits.concurrency):
        recording.warn(warning)
    return recording


@dataclass(frozen=True)
class _Run:
    """One run while it goes on; without a connection there is nothing to drive."""

    suite: Suite
    target: TargetSpec
    dataset: Dataset
    recording: Recording
    connection: Connection | None
    stop: Stop
    stored: StoredWork | None = None
    underway: dict[int, tuple[PlannedTrial, Underway, datetime]] = field(default_factory=dict)

    @cached_property
    def pacing(self) -> Pacing:
        """Return the pace of the run."""
        # It takes reading all that was stored.
        stored = self.stored if is_limited(self.suite.limits) else None
        return Pacing(
            self.suite,
            self.stop,
            slowed=self.recording.show_slowed,
            spent=stored.spent if stored else None,
            past=stored.past if stored else (),
        )

    async def work(self) -> None:
        try:
            if self.connection is None:
                await self._work_on(self._grade_again)
            else:
                await self._drive(self.connection)
        finally:
            # What has not even heard of its cancellation is given up.
            for index in tuple(self.underway):
                self._cut_off(index)
            for remark in self.pacing.closing():
                self.recording.warn(remark)

    async def _drive(self, connection: Connection) -> None:
        suite, warn = self.suite, self.recording.warn
        # What was raised may say what `redact` takes out of trials; it does not see warnings.
        tell = error_place if suite.redact else error_line
        seconds = suite.limits.trial_seconds
        worlds = Worlds(suite.fixtures, seconds=seconds, warn=warn, tell=tell)
        async with worlds.opened("run", {}) as fixtures:
            driver = Driver(
                connection=connection,
                worlds=worlds,
                fixtures=fixtures,
                limits=suite.limits,
                retries=suite.retries,
                warn=warn,
                tell=tell,
                is_stopping=lambda: self.stop.is_asked,
                on_wait=self.recording.count_waiting,
                pacing=self.pacing,
            )
            await self._work_on(self.pacing.around(partial(self._make, driver)))

    async def _work_on(self, make: Callable[[PlannedTrial], Awaitable[None]]) -> None:
        jobs = plan(self._samples(), self.target.models, self.suite.epochs)
        left = self.pacing.in_turn(self.stored.left(jobs) if self.stored else jobs)
        concurrency = self.suite.limits.concurrency
        await run_workers(left, make, concurrency=concurrency, stop=self.stop)

    def _samples(self) -> Iterator[Sample]:
        """Return the samples, with a warning of each that a grader cannot grade."""
        # What no grader looks at need not be asked for, sample by sample.
        are_linted = lints_samples(self.suite.graders)
        for line, sample in self.dataset.stream():
            if are_linted or sample.graders:
                self.recording.warn_of(sample_faults(self.suite, sample, line=line))
            yield sample

    async def _make(self, driver: Driver, planned: PlannedTrial) -> None:
        if self.stored and self.stored.is_only_graded(planned):
            await self._grade_again(planned)
            return
        started_at, underway = now(), Underway()
        self.underway[planned.index] = planned, underway, started_at
        try:
            driven = await driver.drive(planned, underway)
            if not self.stop.reason:
                underway.driven = driven = self.recording.redaction.driven(driven)
                trial = await graded_trial(self.suite, planned, driven, started_at)
                if self.underway.pop(planned.index, None):
                    self.recording.store(planned, trial)
        finally:
            if planned.index in self.underway:
                self._cut_off(planned.index)

    def _cut_off(self, index: int) -> None:
        """Store a trial that has not come to its end, as far as it was driven."""
        planned, underway, started_at = self.underway.pop(index, (None, None, None))
        if planned is None or underway is None or started_at is None:
            return
        trial = interrupted_trial(self.suite, planned, underway, started_at)
        if trial is not None:
            # Where the disk is full, the run has ended for this very reason.
            with suppress(StoreError):
                self.recording.store(planned, trial)

    async def _grade_again(self, planned: PlannedTrial) -> None:
        trial = self.stored.graded_before(planned) if self.stored else None
        if trial is not None:
            trial = self.recording.redaction.recorded(driven_trial(trial))
            trial = await regraded(self.suite, planned.sample, trial)
            self.recording.store(planned, trial)
