"""A run: a suite is driven and graded, every trial stored as it ends, and the numbers summed up."""

from dataclasses import dataclass
from functools import partial

from harness.loading.datasets import Dataset, open_dataset
from harness.running.driving import Driver
from harness.running.plans import PlannedTrial, plan
from harness.running.recording import Recording, RunResult
from harness.running.run_manifests import manifest_of
from harness.running.run_options import RunOptions, apply_options
from harness.running.scripted_models import scripted_models
from harness.running.trial_making import graded_trial
from harness.running.workers import Stop, run_workers
from harness.running.worlds import Worlds
from harness.storing.manifests import write_manifest
from harness.storing.run_folders import make_run_folder
from harness.system.clock import now
from harness.types.progress import Observer, SilentObserver
from harness.types.protocols import Connection, RunContext
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
    dataset = open_dataset(suite, options.selection)
    watcher, stop = observer or SilentObserver(), stop or Stop()
    async with (
        scripted_models(target) as url,
        target.target.connect(_run_context(suite, url)) as connection,
    ):
        recording = _begin(suite, target, options, dataset)
        run = _Run(suite, target, dataset, recording, connection)
        return await recording.record(lambda: run.work(stop), watcher, stop)


def _run_context(suite: Suite, url: str | None) -> RunContext:
    return RunContext(
        scripted_url=url,
        fixture_names=frozenset(fixture.name for fixture in suite.fixtures),
        concurrency=suite.limits.concurrency,
    )


def _begin(suite: Suite, target: TargetSpec, options: RunOptions, dataset: Dataset) -> Recording:
    started_at = now()
    folder = make_run_folder(options.out, suite.name, started_at)
    write_manifest(
        folder, manifest_of(suite, options, dataset, run_id=folder.name, started_at=started_at)
    )
    planned = dataset.count * len(target.models) * suite.epochs
    recording = Recording(suite, folder, models=target.models, planned=planned)
    recording.note_all(dataset.warnings)
    return recording


@dataclass(frozen=True, slots=True)
class _Run:
    """One run while it goes on."""

    suite: Suite
    target: TargetSpec
    dataset: Dataset
    recording: Recording
    connection: Connection

    async def work(self, stop: Stop) -> None:
        suite, note = self.suite, self.recording.note
        worlds = Worlds(suite.fixtures, seconds=suite.limits.trial_seconds, note=note)
        async with worlds.opened("run", {}) as fixtures:
            driver = Driver(
                connection=self.connection,
                worlds=worlds,
                fixtures=fixtures,
                limits=suite.limits,
                retries=suite.retries,
                note=note,
            )
            tasks = plan(self.dataset.samples(), self.target.models, suite.epochs)
            make = partial(self._make, driver)
            await run_workers(tasks, make, concurrency=suite.limits.concurrency, stop=stop)

    async def _make(self, driver: Driver, task: PlannedTrial) -> None:
        started_at = now()
        driven = await driver.drive(task)
        self.recording.store(task, await graded_trial(self.suite, task, driven, started_at))
