"""A replay: stored trajectories are graded, and no agent is driven."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

import msgspec

from harness.grading.connected_calls import is_connected
from harness.grading.grade_keys import grade_key
from harness.grading.judging import grade_trajectory, needs_grades
from harness.loading.datasets import open_dataset
from harness.loading.validation import sample_faults
from harness.running.foreign_trials import grades_brought, is_skipped, skipped_grade
from harness.running.grader_scripts import require_scripts
from harness.running.plans import PlannedTrial
from harness.running.recorded_trials import Recorded, has_samples
from harness.running.recording import Recording, RunResult
from harness.running.run_manifests import make_manifest
from harness.running.run_options import RunOptions
from harness.running.sample_matching import sample_of_trial
from harness.running.trial_making import grading_failure, judged, slices_for
from harness.running.workers import Stop, run_workers
from harness.storing.manifests import write_manifest
from harness.storing.run_folders import make_run_folder, new_run_id
from harness.system.clock import monotonic, now
from harness.types.grades import Grade
from harness.types.progress import Observer, SilentObserver
from harness.types.samples import Sample
from harness.types.suites import GraderSpec, Suite
from harness.types.taxonomy import Taxonomy
from harness.types.trials import Trial, TrialFacts

_Job = tuple[PlannedTrial, Trial]


async def replay(  # noqa: PLR0913  (what is watched and what is asked, beside what is graded)
    suite: Suite,
    recorded: Recorded,
    options: RunOptions,
    observer: Observer | None = None,
    stop: Stop | None = None,
    *,
    asks_models: bool = True,
) -> RunResult:
    """Grade recorded trials with a suite's graders; grades that still hold are kept as they are.

    A grade holds when its key is the same: same grader, code and ground truth. Of `options`,
    `out` and `command` count. Without `asks_models`, grades of graders that ask a language model
    stay what they are, or are skipped where there is none.

    Raises:
        InputError: the suite or its dataset cannot be used; nothing was stored.
        StoreError: the recorded run cannot be read, or the new directory cannot be made.
    """
    # What was driven is graded, whatever the suite selects for driving.
    suite = replace(suite, epochs=recorded.epochs, max_samples=None, sample_tags=())
    require_scripts(suite)
    joins = recorded.pairs is None and has_samples(suite)
    dataset = open_dataset(suite) if joins else recorded.dataset
    started_at = now()
    options = replace(options, models=recorded.models, narrowed=recorded.narrowed)
    run_id = new_run_id(suite.name, started_at)
    manifest = make_manifest(suite, options, dataset, run_id=run_id, started_at=started_at)
    manifest = msgspec.structs.replace(
        manifest, graded_from=recorded.source, planned=recorded.planned
    )
    folder = make_run_folder(options.out, run_id, lambda draft: write_manifest(draft, manifest))
    recording = Recording(
        suite,
        folder,
        models=recorded.models,
        planned=recorded.planned,
        observer=observer or SilentObserver(),
    )
    recording.warn_of((*dataset.warnings, *dataset.notes))
    jobs = _join(dataset.samples(), recorded, recording) if joins else _paired(recorded)
    stop = stop or Stop()

    async def regrade(job: _Job) -> None:
        planned, trial = job
        recording.warn_of(sample_faults(suite, planned.sample))
        trial = recording.redaction.recorded(trial)
        made = await regraded(suite, planned.sample, trial, asks_models=asks_models)
        recording.store(planned, made)

    async def work() -> None:
        await run_workers(jobs, regrade, concurrency=suite.limits.concurrency, stop=stop)
        for warning in recorded.warnings:
            recording.warn(warning)

    return await recording.record(work, stop)


def _paired(recorded: Recorded) -> Iterator[_Job]:
    """Return trials with the samples that they bring themselves."""
    pairs = recorded.pairs or (lambda: ((sample_of_trial(one), one) for one in recorded.trials))
    for index, (sample, trial) in enumerate(pairs()):
        yield PlannedTrial(index, sample, trial.keys.sample, trial.model, trial.epoch), trial


def _join(samples: Iterator[Sample], recorded: Recorded, recording: Recording) -> Iterator[_Job]:
    """Bring trials and samples together, holding only the samples that trials still need.

    Trials stand in the log nearly in the order of the dataset, so it is read once, alongside.
    """
    needed = len(recorded.models) * recorded.epochs
    held: dict[str, Sample] = {}
    seen: Counter[str] = Counter()
    for index, trial in enumerate(recorded.trials):
        while trial.sample_id not in held and (sample := next(samples, None)) is not None:
            held[sample.id] = sample
        found = held.get(trial.sample_id)
        if found is None:
            recording.warn(f"sample {trial.sample_id!r} is not in the dataset")
            continue
        seen[found.id] += 1
        if seen[found.id] == needed:
            del held[found.id], seen[found.id]
        yield PlannedTrial(index, found, trial.keys.sample, trial.model, trial.epoch), trial


async def regraded(
    suite: Suite, sample: Sample, trial: Trial, *, asks_models: bool = True
) -> Trial:
    """Grade a recorded trial again, as far as its grades do not hold any more."""
    started = monotonic()
    specs = (*suite.graders, *sample.graders)
    grades: dict[str, Grade] = {}
    if is_skipped(trial):
        grades = {spec.name: skipped_grade(trial) for spec in specs}
    elif trial.status != "target_error":
        held = _held(specs, sample, trial) | ({} if asks_models else _unasked(specs, trial))
        missing = tuple(spec for spec in specs if spec.name not in held)
        made = await grade_trajectory(
            missing,
            sample,
            trial.trajectory,
            snapshots=trial.snapshots,
            limits=suite.limits,
            facts=_facts(trial, held),
        )
        grades = {spec.name: (held | made)[spec.name] for spec in specs}
    grades |= {n: grade for n, grade in grades_brought(trial).items() if n not in grades}
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
        slices=slices_for(suite, sample),
    )


def _unasked(specs: Iterable[GraderSpec], trial: Trial) -> dict[str, Grade]:
    none = Grade(status="skipped", evidence="no language model was asked")
    return {spec.name: trial.grades.get(spec.name, none) for spec in specs if asks_a_model(spec)}


def asks_a_model(spec: GraderSpec) -> bool:
    """Say whether a grader, or one that it is made of, asks a language model."""
    taxonomy = getattr(spec.grader, "taxonomy", None)
    is_judge = isinstance(taxonomy, Taxonomy) and taxonomy.determinism == "llm"
    return is_judge or is_connected(spec.grader) or any(map(asks_a_model, spec.parts))


def _facts(trial: Trial, held: dict[str, Grade]) -> TrialFacts:
    stated = trial.timing.stated_seconds
    return TrialFacts(
        model=trial.model,
        usage=trial.usage,
        seconds=trial.timing.target_seconds,
        grades=held,
        stated_seconds=None if stated is msgspec.UNSET else stated,
        # The usage of a trial of ours sums its attempts, of which only the last is graded.
        stated_usage=None if trial.attempts else trial.usage,
    )


def _held(specs: Iterable[GraderSpec], sample: Sample, trial: Trial) -> dict[str, Grade]:
    held = {}
    for spec in specs:
        # A grade that rests on other grades, or on options that cannot work, is made again.
        remade = needs_grades(spec) or spec.fault
        grade = None if remade else trial.grades.get(spec.name)
        if grade and grade.status != "error" and grade.key == grade_key(spec, sample):
            held[spec.name] = grade
    return held
