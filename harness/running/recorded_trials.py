"""What is graded without driving an agent: stored trials, and where they come from."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.loading.datasets import Dataset
from harness.running.narrowed_runs import Narrowing, narrowing_of
from harness.storing.counted_trials import counted_trials
from harness.storing.log_repair import salvaged_trials
from harness.storing.manifests import ForeignOrigin, read_manifest
from harness.system.clock import now
from harness.system.hashing import sha256_of
from harness.types.samples import Sample
from harness.types.suites import Suite
from harness.types.trajectories import Trajectory
from harness.types.trials import Keys, Timing, Trial

Pairs = Callable[[], Iterator[tuple[Sample, Trial]]]
"""Gives each trial with its sample, as a stream, anew each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """Trials that were driven before, on these models, so many epochs.

    `planned` is how many there should be, which a run that was killed falls short of. `source`
    names the run, or says where foreign records come from; None for trajectories that were handed
    over in Python. `narrowed` says what of its suite was driven. `dataset` are its samples, as far
    as they are known without a suite; `pairs` gives the trials with their samples, where those were
    found already. `warnings` are about reading it.
    """

    trials: Iterable[Trial]
    planned: int
    models: tuple[str, ...]
    epochs: int
    source: str | ForeignOrigin | None = None
    narrowed: Narrowing = field(default_factory=dict)
    dataset: Dataset
    pairs: Pairs | None = None
    warnings: list[str] = field(default_factory=list)


def recorded_run(folder: Path, *, salvage: bool = False) -> Recorded:
    """Return the trials of a run directory that count; with `salvage`, what of it can be read.

    Raises:
        StoreError: it cannot be read.
    """
    manifest = read_manifest(folder)
    warnings: list[str] = []
    read = salvaged_trials if salvage else counted_trials
    return Recorded(
        trials=read(folder, warnings.append),
        planned=manifest.planned,
        models=manifest.models,
        epochs=manifest.epochs,
        source=manifest.run_id,
        narrowed=narrowing_of(manifest),
        dataset=samples_of_records(manifest.samples, manifest.dataset_sha256),
        warnings=warnings,
    )


def recorded_trajectories(trajectories: Mapping[str, Trajectory]) -> Recorded:
    """Return trajectories that were recorded elsewhere, by sample id, as trials without grades."""
    trials = (_ungraded(sample_id, one) for sample_id, one in trajectories.items())
    return Recorded(
        trials=trials,
        planned=len(trajectories),
        models=("default",),
        epochs=1,
        dataset=samples_of_records(len(trajectories), sha256_of(*trajectories)),
    )


def samples_of_records(count: int, sha256: str) -> Dataset:
    """Return the samples that records bring themselves: only their number is known apart."""
    return Dataset(count=count, sha256=sha256, stream=lambda: iter(()))


def has_samples(suite: Suite) -> bool:
    """Say whether a suite has samples of its own, in which those of records are sought."""
    return suite.dataset is not None or suite.samples is not None


def _ungraded(sample_id: str, trajectory: Trajectory) -> Trial:
    return Trial(
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
