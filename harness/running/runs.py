"""A run: a suite is driven and graded, every trial stored as it ends, and the numbers summed up."""

from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from harness.loading.datasets import Dataset, open_dataset
from harness.loading.validation import sample_faults
from harness.running.driving import Driver
from harness.running.grader_scripts import require_scripts
from harness.running.plans import PlannedTrial, plan
from harness.running.recording import Recording, RunResult, Warnings
from harness.running.run_manifests import make_manifest
from harness.running.run_options import RunOptions, apply_options
from harness.running.scripted_models import scripted_models
from harness.running.trial_making import graded_trial
from harness.running.workers import Stop, run_workers
from harness.running.worlds import Worlds
from harness.storing.manifests import write_manifest
from harness.storing.run_folders import make_run_folder, new_run_id
from harness.system.clock import now
from harness.system.open_files import allow_open_files
from harness.types.progress import Observer, SilentObserver
from harness.types.protocols import Connection, RunContext
from harness.types.samples import Sample
from harness.types.suites import Suite, TargetSpec


async def execute(
    suite: Suite, options: RunOptions, observer: Observer | None = None, stop: Stop | None = None
) -> RunResult:
    """Run a suite to its end, or until `stop` is asked; what is done is stored in either case.

    Raises:
        InputError: the suite, its dataset or its script cannot be used; nothing was stored.
        TargetError: the agents cannot be reached at all; nothing was stored.
        StoreError: the run directory cannot be made.
    """
    suite, target = apply_options(suite, options)
    require_scripts(suite)
    dataset = open_dataset(suite, options.selection)
    stop = stop or Stop()
    opening = _Opening(now(), Warnings(suite.secrets), new_run_id(suite.name, now()))
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(scripted_models(target))
        context = _run_context(suite, target, url, opening)
        connection = await stack.enter_async_context(target.target.connect(context))
        options = replace(options, models=target.models)
        recording = _begin(suite, options, dataset, opening, observer or SilentObserver())
        run = _Run(suite, target, dataset, recording, connection, stop)
        return await recording.record(run.work, stop, stack.aclose)


@dataclass(frozen=True, slots=True)
class _Opening:
    """A run before it has a directory: agents that cannot be reached leave none behind."""

    started_at: datetime
    warnings: Warnings
    run_id: str


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


def _begin(
    suite: Suite, options: RunOptions, dataset: Dataset, opening: _Opening, observer: Observer
) -> Recording:
    started_at = opening.started_at
    folder = make_run_folder(options.out, opening.run_id)
    manifest = make_manifest(suite, options, dataset, run_id=folder.name, started_at=started_at)
    write_manifest(folder, manifest)
    recording = Recording(
        suite,
        folder,
        models=options.models,
        planned=manifest.planned,
        observer=observer,
        warnings=opening.warnings,
    )
    recording.warn_of((*dataset.warnings, *dataset.notes))
    if warning := allow_open_files(suite.limits.concurrency):
        recording.warn(warning)
    return recording


@dataclass(frozen=True, slots=True)
class _Run:
    """One run while it goes on."""

    suite: Suite
    target: TargetSpec
    dataset: Dataset
    recording: Recording
    connection: Connection
    stop: Stop

    async def work(self) -> None:
        suite, warn = self.suite, self.recording.warn
        worlds = Worlds(suite.fixtures, seconds=suite.limits.trial_seconds, warn=warn)
        async with worlds.opened("run", {}) as fixtures:
            driver = Driver(
                connection=self.connection,
                worlds=worlds,
                fixtures=fixtures,
                limits=suite.limits,
                retries=suite.retries,
                warn=warn,
                is_stopping=lambda: bool(self.stop.reason),
                on_wait=self.recording.count_waiting,
            )
            jobs = plan(self._samples(), self.target.models, suite.epochs)
            make = partial(self._make, driver)
            await run_workers(jobs, make, concurrency=suite.limits.concurrency, stop=self.stop)

    def _samples(self) -> Iterator[Sample]:
        """Return the samples, with a warning of each that a grader cannot grade."""
        for line, sample in self.dataset.stream():
            self.recording.warn_of(sample_faults(self.suite, sample, line=line))
            yield sample

    async def _make(self, driver: Driver, planned: PlannedTrial) -> None:
        started_at = now()
        driven = self.recording.redaction.driven(await driver.drive(planned))
        trial = await graded_trial(self.suite, planned, driven, started_at)
        if not self.stop.reason:
            self.recording.store(planned, trial)
