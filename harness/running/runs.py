"""A run: a suite is driven and graded, every trial stored as it ends, and the numbers summed up."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from harness.loading.datasets import Dataset, open_dataset
from harness.running.choices import RunOptions, chosen
from harness.running.driving import Driver
from harness.running.plans import Task, plan
from harness.running.recording import Recording, RunResult
from harness.running.run_manifests import manifest_of
from harness.running.scripted_models import scripted_models
from harness.running.trial_making import graded_trial
from harness.running.workers import Stop, work_off
from harness.running.worlds import Worlds
from harness.storing.manifests import write_manifest
from harness.storing.run_folders import make_run_folder
from harness.system.clock import now
from harness.types.progress import Nobody, Observer
from harness.types.protocols import Surroundings
from harness.types.suites import Suite, TargetSpec

_Models = AbstractAsyncContextManager[str | None]


async def execute(
    suite: Suite, options: RunOptions, observer: Observer | None = None, stop: Stop | None = None
) -> RunResult:
    """Run a suite to its end, or until `stop` is asked; what is done is stored in either case.

    Raises:
        InputError: the suite, its dataset or its script cannot be used; nothing was stored.
        StoreError: the run directory cannot be made.
    """
    suite, target = chosen(suite, options)
    dataset = open_dataset(suite, options.selection)
    models = scripted_models(target)
    started_at = now()
    folder = make_run_folder(options.out, suite.name, started_at)
    write_manifest(
        folder, manifest_of(suite, options, dataset, run_id=folder.name, started_at=started_at)
    )
    planned = dataset.count * len(target.models) * suite.epochs
    recording = Recording(suite, folder, models=target.models, planned=planned)
    recording.note_all(dataset.warnings)
    run = _Run(suite, target, dataset, recording)
    stop = stop or Stop()
    return await recording.record(lambda: run.work(models, stop), observer or Nobody(), stop)


class _Run:
    """One run while it goes on."""

    def __init__(
        self, suite: Suite, target: TargetSpec, dataset: Dataset, recording: Recording
    ) -> None:
        self._suite, self._target = suite, target
        self._dataset, self._recording = dataset, recording

    async def work(self, models: _Models, stop: Stop) -> None:
        tasks = plan(self._dataset.samples(), self._target.models, self._suite.epochs)
        async with self._driver(models) as driver:

            async def make(task: Task) -> None:
                started_at = now()
                driven = await driver.drive(task)
                trial = await graded_trial(self._suite, task, driven, started_at)
                self._recording.store(task, trial)

            concurrency = self._suite.limits.concurrency
            await work_off(tasks, make, concurrency=concurrency, stop=stop)

    @asynccontextmanager
    async def _driver(self, models: _Models) -> AsyncIterator[Driver]:
        suite, note = self._suite, self._recording.note
        worlds = Worlds(suite.fixtures, seconds=suite.limits.trial_seconds, note=note)
        async with (
            models as url,
            self._target.target.connect(self._surroundings(url)) as connection,
            worlds.opened("run", {}) as fixtures,
        ):
            yield Driver(
                connection=connection,
                worlds=worlds,
                fixtures=fixtures,
                limits=suite.limits,
                retries=suite.retries,
                note=note,
            )

    def _surroundings(self, url: str | None) -> Surroundings:
        return Surroundings(
            scripted_url=url,
            fixture_names=frozenset(fixture.name for fixture in self._suite.fixtures),
            concurrency=self._suite.limits.concurrency,
        )
