"""Runs as a user names them: `RUN` or `RUN::MODEL`, `latest`, `pinned`, an exported file."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.running.completing import how_to_complete
from harness.running.held_trials import held_summary
from harness.running.narrowed_runs import Narrowing, narrowing_of, stands_for
from harness.running.planned_comparisons import known_against
from harness.storing.baseline_files import (
    EXPORTED,
    is_baseline_file,
    read_pins,
    unpack_baseline,
)
from harness.storing.manifests import Manifest, read_manifest, read_summary
from harness.storing.run_folders import TRIALS, find_run
from harness.storing.run_order import RunOrder
from harness.types.errors import Fault, InputError, StoreError

LATEST, PINNED = "latest", "pinned"


@dataclass(frozen=True, slots=True)
class RunAddress:
    """A run, and the model of it that is meant, if one is named."""

    run: str
    model: str | None = None

    @staticmethod
    def read(text: str) -> "RunAddress":
        """Read `RUN` or `RUN::MODEL`."""
        run, mark, model = text.partition("::")
        return RunAddress(run, model if mark else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """For what a baseline is sought: a run of a suite, of which it took what `narrowing` says.

    `models` are those that have to be in it, if its own were chosen; None for any. `besides` is the
    candidate; with `is_earlier`, only runs that were made before it will do.
    """

    suite: str
    narrowing: Narrowing = field(default_factory=dict)
    models: Sequence[str] | None = ()
    besides: Path | None = None
    is_earlier: bool = False

    @staticmethod
    def by(candidate: Path, model: str | None, *, is_earlier: bool = False) -> "Wanted":
        """Return what is wanted for a stored run, or one model of it.

        Raises:
            StoreError: it cannot be read.
        """
        manifest = read_manifest(candidate)
        models = manifest.models if model is None else (model,)
        narrowing = narrowing_of(manifest)
        return Wanted(
            suite=manifest.suite,
            narrowing=narrowing,
            models=models,
            besides=candidate,
            is_earlier=is_earlier,
        )


def is_one_run(baseline: RunAddress, candidate: RunAddress) -> bool:
    """Say whether two models of one run are named, such as `latest::a` and `latest::b`."""
    named = baseline.model is not None and candidate.model is not None
    return named and baseline.run == candidate.run


def find_named(name: str | Path, out: Path) -> Path:
    """Return the directory of a run that a user named.

    Raises:
        InputError: there is no such run.
    """
    try:
        return find_run(name, out)
    except StoreError as error:
        raise _fault(error) from error


def find_candidate(address: RunAddress, out: Path) -> Path:
    """Return the directory of a candidate.

    Raises:
        InputError: there is no such run.
    """
    path = Path(address.run)
    is_exported = is_baseline_file(path) or (path.suffix == EXPORTED and not path.is_dir())
    if address.run == PINNED or is_exported:
        problem = f"{'an exported' if is_exported else 'the pinned'} run can only be the BASELINE"
        allowed = "the CANDIDATE is a run directory, its name, or `latest`"
        raise InputError([Fault(file=address.run, problem=problem, allowed=allowed)])
    return find_named(address.run, out)


def find_baseline(
    address: RunAddress, out: Path, wanted: Wanted, *, workspace: Path
) -> Path | None:
    """Return the directory of a baseline; None where there is none yet.

    `latest` is the newest complete run of the suite under `out` that met its gates, was compared if
    it was to be, and did not regress, the candidate left out, and of those that took a part of the
    suite all but the ones that took the part which is wanted, on its models if there is one;
    `pinned` the one that `regrade baseline set` has pinned. An exported run is unpacked into
    `workspace`. Only these may be missing: an exported run is not there on the first night.

    Raises:
        InputError: there is no such run, or what lies there is none.
        StoreError: an exported run is damaged, or the pins are.
    """
    if address.run == LATEST:
        return _latest(out, wanted, address.model)
    if address.run == PINNED:
        pin = read_pins(out).get(wanted.suite)
        return None if pin is None else find_named(pin.run, out)
    path = Path(address.run)
    if is_baseline_file(path):
        return unpack_baseline(path, workspace)
    try:
        return find_run(address.run, out)
    except StoreError as error:
        if path.suffix == EXPORTED and not path.exists():
            return None
        raise _fault(error) from error


def missing_words(address: RunAddress, *, besides: bool = True, is_earlier: bool = False) -> str:
    """Say in a sentence part what is not there where `find_baseline` has found nothing.

    `besides` says that a candidate was left out, `is_earlier` later runs as well.
    """
    if address.run == LATEST:
        besides_it = f"{'before' if is_earlier else 'besides'} the candidate " if besides else ""
        return (
            f"there is no baseline yet: {besides_it}there is no complete run of the whole suite "
            "that met its gates and neither regressed nor missed its comparison"
        )
    if address.run == PINNED:
        return "there is no baseline yet: no run is pinned for the suite"
    return f"there is no baseline yet: no file {address.run}"


def find_exported(name: str, out: Path, suite: str | None) -> Path:
    """Return the directory of a run that is to be exported, `latest` and `pinned` as baselines.

    Those are of `suite`; of the suite that was run last, or the only one with a pin, if it is None.

    Raises:
        InputError: there is no such run, or it cannot be told of which suite it should be.
        StoreError: the pins are damaged.
    """
    address = RunAddress(name)
    if name not in {LATEST, PINNED}:
        return find_named(name, out)
    if suite is None:
        is_latest = name == LATEST
        suite = read_manifest(find_named(name, out)).suite if is_latest else _pinned(out)
    found = find_baseline(address, out, Wanted(suite=suite), workspace=out)
    if found is None:
        problem = f"{missing_words(address, besides=False)} ({suite})"
        raise InputError([Fault(file=name, problem=problem)])
    return found


def _pinned(out: Path) -> str:
    """Return the only suite with a pin."""
    pins = read_pins(out)
    if len(pins) == 1:
        return next(iter(pins))
    problem = "no run is pinned" if not pins else "several suites have a pinned run"
    allowed = f"--suite with one of {', '.join(pins)}" if pins else "regrade baseline set RUN"
    raise InputError([Fault(file=PINNED, problem=problem, allowed=allowed)])


def require_complete(folder: Path) -> Manifest:
    """Return the manifest of a run that can be a baseline.

    Raises:
        InputError: it is not complete.
        StoreError: it cannot be read.
    """
    manifest, summary = read_manifest(folder), held_summary(folder)
    if not summary.complete:
        problem = f"only complete runs are baselines: {'; '.join(summary.reasons)}"
        has_errors = any(model.errors for model in summary.models.values())
        allowed = how_to_complete(manifest, folder, has_errors=has_errors)
        raise InputError([Fault(file=str(folder), problem=problem, allowed=allowed)])
    return manifest


def _latest(out: Path, wanted: Wanted, model: str | None) -> Path | None:
    """Return the newest good run; where a model is named or was chosen, on it before on any."""
    if model is None and "models" not in wanted.narrowing:
        return next(_good_runs(out, wanted), None)
    choices = (wanted.models if model is None else (model,), None)
    runs = (_good_runs(out, replace(wanted, models=models)) for models in choices)
    return next((run for found in runs for run in found), None)


def _good_runs(out: Path, wanted: Wanted) -> Iterator[Path]:
    """Return the complete runs of a suite that nothing is known against, newest first."""
    besides, order = wanted.besides and wanted.besides.resolve(), RunOrder(out)
    first_left_out = order.of(besides) if besides and wanted.is_earlier else None
    folders = (path.parent for path in out.glob(f"*/{TRIALS}"))
    for folder in sorted(folders, key=order.of, reverse=True):
        is_later = first_left_out is not None and order.of(folder) >= first_left_out
        is_other = not is_later and folder.resolve() != besides
        # What cannot be read, or was killed, is no complete run.
        with suppress(StoreError):
            if not is_other:
                continue
            manifest = read_manifest(folder)
            is_like = stands_for(manifest, wanted.narrowing, wanted.models)
            if manifest.suite == wanted.suite and is_like and _is_good(folder, manifest):
                yield folder


def _is_good(folder: Path, manifest: Manifest) -> bool:
    summary = read_summary(folder)
    return summary.complete and summary.passed and not known_against(folder, manifest)


def _fault(error: StoreError) -> InputError:
    return InputError([Fault(file=error.place, problem=str(error), allowed=error.hint)])
