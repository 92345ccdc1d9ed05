"""What keeps a run from being compared, found before it is driven."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.loading.datasets import open_dataset
from harness.running.compared_sides import ComparedSide
from harness.running.completing import how_to_complete
from harness.running.narrowed_runs import Narrowing, narrowed_by
from harness.running.run_addresses import LATEST, RunAddress, Wanted
from harness.running.run_options import RunOptions, apply_options
from harness.storing.baseline_files import is_baseline_file
from harness.storing.manifests import read_manifest
from harness.types.errors import ComparisonError, Fault, InputError
from harness.types.suites import Suite


@dataclass(frozen=True, slots=True, kw_only=True)
class Upcoming:
    """A run that is about to be made: of a suite, by these options; `folder` if it is resumed."""

    suite: Suite
    options: RunOptions
    folder: Path | None = None

    @property
    def models(self) -> Sequence[str]:
        """Return the models that it will be on."""
        _, target = apply_options(self.suite, self.options)
        return target.models

    def wanted(self) -> Wanted:
        """Return for what a baseline is sought."""
        narrowing: Narrowing = narrowed_by(self.suite, self.options)
        return Wanted(
            suite=self.suite.name,
            narrowing=narrowing,
            models=self.models,
            besides=self.folder,
            is_earlier=self.folder is not None,
        )


def refuse_incomparable(found: Path, named: RunAddress, upcoming: Upcoming) -> None:
    """Refuse a baseline that the run could not be compared with, whatever comes of it.

    The newest run is never refused: the run that is made will be the next one's baseline.

    Raises:
        InputError: the model that is named is not in the baseline.
        ComparisonError: no model or sample is in both, or the baseline is not complete.
        StoreError: the baseline cannot be read.
    """
    _require_model(found, named)
    if named.run == LATEST:
        return
    for name in _models(found, named, upcoming.models):
        side = ComparedSide(found, name)
        _refuse_incomplete(side, named)
        _refuse_other_samples(side, named, upcoming)


def _require_model(found: Path, named: RunAddress) -> None:
    own = read_manifest(found).models
    if named.model is not None and named.model not in own:
        problem, allowed = f"no model {named.model!r}", f"one of {', '.join(own)}"
        raise InputError([Fault(file=named.run, problem=problem, allowed=allowed)])


def _models(found: Path, named: RunAddress, models: Sequence[str]) -> Sequence[str]:
    """Return the models of a baseline that are compared with these."""
    own = read_manifest(found).models
    if named.model is not None:
        return (named.model,)
    common = [name for name in models if name in own] if len(own) > 1 else own
    if not common:
        raise ComparisonError(
            f"nothing was driven, as no model is in both runs: the baseline has {', '.join(own)}, "
            f"this run {', '.join(models)}",
            place=_shown(found, named),
            hint=f"name one of its models: {', '.join(f'{named.run}::{name}' for name in own)}",
        )
    return common


def _refuse_incomplete(side: ComparedSide, named: RunAddress) -> None:
    if not (reason := side.incompleteness()):
        return
    hint = how_to_complete(side.manifest, side.folder, has_errors=side.errors > 0)
    if is_baseline_file(Path(named.run)):
        hint = f"export a complete run to {named.run}"
    problem = f"nothing was driven, as only complete runs are baselines, and {reason}"
    raise ComparisonError(problem, place=_shown(side.folder, named), hint=hint)


def _refuse_other_samples(side: ComparedSide, named: RunAddress, upcoming: Upcoming) -> None:
    samples = open_dataset(upcoming.suite, upcoming.options.selection).samples()
    if any(sample.id in side.samples for sample in samples):
        return
    problem, suite = "nothing was driven, as no sample is in both runs", side.manifest.suite
    if suite != upcoming.suite.name:
        problem += f": the baseline is one of the suite {suite}, not of {upcoming.suite.name}"
    hint = "name a run of the same samples"
    raise ComparisonError(problem, place=_shown(side.folder, named), hint=hint)


def _shown(found: Path, named: RunAddress) -> str:
    return named.run if is_baseline_file(Path(named.run)) else str(found)
