"""Which models of two runs are compared with each other, and which have nobody to compare with."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.running.compared_sides import ComparedSide
from harness.storing.manifests import Manifest, read_manifest
from harness.types.errors import Fault, InputError

Named = tuple[Path, str | None]
"""The directory of a run, and the model of it that is named, if one is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedModels:
    """Models with their baselines; `new` ones of the candidate, `gone` ones of the baseline.

    Both are empty where models are named. Without `sides` nothing can be compared.
    """

    sides: Sequence[tuple[ComparedSide, ComparedSide]]
    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    def warnings(self) -> tuple[str, ...]:
        """Say which models are not compared."""
        said = [f"without a baseline, so not compared: {', '.join(self.new)}"] if self.new else []
        if self.gone:
            said.append(f"only in the baseline, so not compared: {', '.join(self.gone)}")
        return tuple(said)


def pair_models(baseline: Named, candidate: Named) -> PairedModels:
    """Return which models are compared, each with its baseline.

    A candidate's model that is not named means all of them. A baseline's model that is not named
    means the only one, else the one of the candidate's name. A model of one run is not compared
    with itself, unless it is named on both sides.

    Raises:
        InputError: a model is not in its run, or it cannot be told which is meant.
        StoreError: a run cannot be read.
    """
    ours, theirs = read_manifest(baseline[0]), read_manifest(candidate[0])
    models = [candidate[1]] if candidate[1] is not None else list(theirs.models)
    new, gone = _lonely(baseline, candidate, ours, theirs)
    chosen = [(_of_baseline(baseline, ours, one), one) for one in models if one not in new]
    is_one_run = baseline[0].resolve() == candidate[0].resolve()
    if is_one_run and candidate[1] is None and baseline[1] is not None:
        chosen = [(one, other) for one, other in chosen if one != other]
    if not chosen and not new:
        problem = "there is only one model, which would be compared with itself"
        raise InputError([Fault(file=str(candidate[0]), problem=problem)])
    read = _Sides()
    sides = [(read.of(baseline[0], one), read.of(candidate[0], other)) for one, other in chosen]
    return PairedModels(sides=sides, new=new, gone=gone)


def _lonely(
    baseline: Named, candidate: Named, ours: Manifest, theirs: Manifest
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the models that one run alone has, where models are paired by their names."""
    is_by_name = baseline[1] is None and candidate[1] is None and len(ours.models) > 1
    if not is_by_name:
        return (), ()
    return (
        tuple(one for one in theirs.models if one not in ours.models),
        tuple(one for one in ours.models if one not in theirs.models),
    )


def _of_baseline(baseline: Named, manifest: Manifest, model: str) -> str:
    folder, named = baseline
    if named is not None:
        return named
    if len(manifest.models) == 1:
        return manifest.models[0]
    if model in manifest.models:
        return model
    problem = f"the baseline has several models, and none is {model!r}"
    raise InputError(
        [Fault(file=str(folder), problem=problem, allowed=_addresses(folder, manifest.models))]
    )


def _addresses(folder: Path, models: Sequence[str]) -> str:
    return f"name one of them: {', '.join(f'{folder.name}::{model}' for model in models)}"


@dataclass(frozen=True, slots=True)
class _Sides:
    """Sides of a comparison, each read once."""

    _read: dict[tuple[Path, str], ComparedSide] = field(default_factory=dict)

    def of(self, folder: Path, model: str) -> ComparedSide:
        """Return a model of a run."""
        if (folder, model) not in self._read:
            self._read[folder, model] = ComparedSide(folder, model)
        return self._read[folder, model]
