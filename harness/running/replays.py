"""A replay: stored trajectories are graded, and no agent is driven."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from harness.grading.grade_keys import grade_key
from harness.grading.judging import grade_trajectory
from harness.loading.datasets import open_dataset
from harness.running.plans import PlannedTrial
from harness.running.recording import Recording, RunResult
from harness.running.run_manifests import manifest_of
from harness.running.run_options import RunOptions
from harness.running.trial_making import grading_failure, judged
from harness.running.workers import Stop, run_workers
from harness.storing.manifests import read_manifest, write_manifest
from harness.storing.run_folders import make_run_folder
from harness.storing.trial_log import last_lines, read_trials
from harness.system.clock import monotonic, now
from harness.types.grades import Grade
from harness.types.progress import Observer, SilentObserver
from harness.types.samples import Sample
from harness.types.suites import GraderSpec, Suite
from harness.types.trajectories import Trajectory
from harness.types.trials import Keys, Timing, Trial


async def replay(
    suite: Suite,
    trials: Iterable[Trial],
    options: RunOptions,
    observer: Observer | None = None,
    stop: Stop | None = None,
) -> RunResult:
    """Grade stored trials with a suite's graders; grades that still hold are kept as they are.

    A grade holds when its key is the same: the same grader, code, ground truth. `options.models`
    and `options.epochs` say what the trials are of.

    Raises:
        InputError: the suite or its dataset cannot be used; nothing was stored.
        StoreError: the run directory cannot be made.
    """
    suite = replace(suite, epochs=options.epochs or suite.epochs)
    dataset = open_dataset(suite, options.selection)
    started_at = now()
    folder = make_run_folder(options.out, suite.name, started_at)
    write_manifest(
        folder, manifest_of(suite, options, dataset, run_id=folder.name, started_at=started_at)
    )
    recording = Recording(suite, folder, models=options.models, planned=options.planned)
    recording.note_all(dataset.warnings)
    tasks = _Join(dataset.samples(), len(options.models) * suite.epochs, recording)
    waiting: dict[int, Trial] = {}
    stop = stop or Stop()

    async def make(task: PlannedTrial) -> None:
        recording.store(task, await regraded(suite, task.sample, waiting.pop(task.index)))

    async def work() -> None:
        concurrency = suite.limits.concurrency
        joined = tasks.join(trials, waiting)
        await run_workers(joined, make, concurrency=concurrency, stop=stop)

    return await recording.record(work, observer or SilentObserver(), stop)


class _Join:
    """Brings trials and samples together, holding only the samples that trials still want.

    Trials stand in the log nearly in the order of the dataset, so the dataset is read once,
    alongside; `wanted` is how many trials each sample has.
    """

    def __init__(self, samples: Iterator[Sample], wanted: int, recording: Recording) -> None:
        self._samples, self._wanted, self._recording = samples, wanted, recording
        self._held: dict[str, Sample] = {}
        self._seen: Counter[str] = Counter()

    def join(self, trials: Iterable[Trial], waiting: dict[int, Trial]) -> Iterator[PlannedTrial]:
        for index, trial in enumerate(trials):
            sample = self._find(trial.sample_id)
            if sample is None:
                self._recording.note(f"sample {trial.sample_id!r} is not in the dataset any more")
                continue
            waiting[index] = trial
            yield PlannedTrial(index, sample, trial.keys.sample, trial.model, trial.epoch)

    def _find(self, sample_id: str) -> Sample | None:
        while sample_id not in self._held:
            sample = next(self._samples, None)
            if sample is None:
                return None
            self._held[sample.id] = sample
        self._seen[sample_id] += 1
        if self._seen[sample_id] < self._wanted:
            return self._held[sample_id]
        del self._seen[sample_id]
        return self._held.pop(sample_id)


async def regraded(suite: Suite, sample: Sample, trial: Trial) -> Trial:
    """Grade a stored trial again, as far as its grades do not hold any more."""
    started = monotonic()
    specs = (*suite.graders, *sample.graders)
    grades: dict[str, Grade] = {}
    if trial.status != "target_error":
        held = _held(specs, sample, trial)
        open_ones = tuple(spec for spec in specs if spec.name not in held)
        made = await grade_trajectory(
            open_ones, sample, trial.trajectory, snapshots=trial.snapshots, limits=suite.limits
        )
        grades = {spec.name: (held | made)[spec.name] for spec in specs}
    driven = "completed" if trial.status == "grading_error" else trial.status
    status, passed, score = judged(suite, specs, grades, driven)
    timing = msgspec.structs.replace(trial.timing, grading_seconds=monotonic() - started)
    error = grading_failure(specs, grades) if status == "grading_error" else trial.error
    return msgspec.structs.replace(
        trial,
        status=status,
        passed=passed,
        score=score,
        grades=grades,
        timing=timing,
        error=None if status == "completed" else error,
    )


def _held(specs: Iterable[GraderSpec], sample: Sample, trial: Trial) -> dict[str, Grade]:
    held = {}
    for spec in specs:
        grade = trial.grades.get(spec.name)
        if grade and grade.status != "error" and grade.key == grade_key(spec, sample):
            held[spec.name] = grade
    return held


async def replay_run(
    suite: Suite,
    folder: Path,
    out: Path,
    observer: Observer | None = None,
    stop: Stop | None = None,
) -> RunResult:
    """Grade the trials of a run directory with a suite; raises as `replay` does."""
    manifest = read_manifest(folder)
    last = last_lines(folder)
    options = RunOptions(
        models=manifest.models,
        epochs=manifest.epochs,
        out=out,
        planned=len(last),
        graded_from=manifest.run_id,
    )
    trials = (trial for index, trial in enumerate(read_trials(folder)) if index in last)
    return await replay(suite, trials, options, observer, stop)


def recorded_trials(trajectories: Mapping[str, Trajectory]) -> Iterator[Trial]:
    """Give trajectories that were recorded elsewhere, by sample id, as trials without grades."""
    for sample_id, trajectory in trajectories.items():
        yield Trial(
            sample_id=sample_id,
            model="default",
            epoch=0,
            status="completed",
            passed=None,
            score=None,
            grades={},
            trajectory=trajectory,
            attempts=(),
            usage=trajectory.usage,
            timing=Timing(started_at=now()),
            error=None,
            keys=Keys(drive="", sample=""),
        )
