"""Runs and their models as a user names them: `RUN` or `RUN::MODEL`, `latest`, `pinned`, a file."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.running.compared_sides import ComparedSide
from harness.running.stored_summaries import summary_of
from harness.storing.baseline_files import is_baseline_file, read_pins, unpack_baseline
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


def is_one_run(baseline: RunAddress, candidate: RunAddress) -> bool:
    """Say whether two models of one run are named, such as `latest::a` and `latest::b`."""
    named = baseline.model is not None and candidate.model is not None
    return named and baseline.run == candidate.run


def find_candidate(address: RunAddress, out: Path) -> Path:
    """Return the directory of a candidate.

    Raises:
        InputError: there is no such run.
    """
    try:
        return find_run(address.run, out)
    except StoreError as error:
        raise _fault(error) from error


def find_baseline(
    address: RunAddress, out: Path, *, suite: str, besides: Path | None, workspace: Path
) -> Path | None:
    """Return the directory of a baseline; None where there is none yet.

    `latest` is the newest complete run of the suite under `out`, `besides` left out; `pinned` the
    one that `regrade baseline set` has pinned for it. An exported run is unpacked into `workspace`.

    Raises:
        InputError: what lies there is no run.
        StoreError: an exported run is damaged, or the pins are.
    """
    if address.run == LATEST:
        return next(_complete_runs(out, suite, besides), None)
    if address.run == PINNED:
        pin = read_pins(out).get(suite)
        return None if pin is None else find_candidate(RunAddress(pin.run), out)
    path = Path(address.run)
    if is_baseline_file(path):
        return unpack_baseline(path, workspace)
    try:
        return find_run(address.run, out)
    except StoreError as error:
        if path.exists():
            raise _fault(error) from error
    return None


def require_complete(folder: Path) -> Manifest:
    """Return the manifest of a run that can be a baseline.

    Raises:
        InputError: it is not complete.
        StoreError: it cannot be read.
    """
    manifest, summary = read_manifest(folder), summary_of(folder)
    if not summary.complete:
        problem = f"only complete runs are baselines: {'; '.join(summary.reasons)}"
        allowed = f"go on with it: regrade run --resume {folder}"
        raise InputError([Fault(file=str(folder), problem=problem, allowed=allowed)])
    return manifest


def _complete_runs(out: Path, suite: str, besides: Path | None) -> Iterator[Path]:
    """Return the complete runs of a suite, newest first."""
    folders = (path.parent for path in out.glob(f"*/{TRIALS}"))
    for folder in sorted(folders, key=RunOrder(out).of, reverse=True):
        is_other = besides is None or folder.resolve() != besides.resolve()
        # What cannot be read, or was killed, is no complete run.
        with suppress(StoreError):
            if is_other and read_manifest(folder).suite == suite and read_summary(folder).complete:
                yield folder


def _fault(error: StoreError) -> InputError:
    return InputError([Fault(file=error.place, problem=str(error), allowed=error.hint)])


def pair_sides(
    baseline: tuple[Path, str | None], candidate: tuple[Path, str | None]
) -> list[tuple[ComparedSide, ComparedSide]]:
    """Return which models are compared, each with its baseline.

    A candidate's model that is not named means all of them. A baseline's model that is not named
    means the only one, else the one of the candidate's name. A model of one run is not compared
    with itself, unless it is named on both sides.

    Raises:
        InputError: a model is not in its run, or it cannot be told which is meant.
        StoreError: a run cannot be read.
    """
    ours, theirs = read_manifest(baseline[0]), read_manifest(candidate[0])
    is_one_run = baseline[0].resolve() == candidate[0].resolve()
    models = [candidate[1]] if candidate[1] is not None else list(theirs.models)
    chosen = [(_of_baseline(baseline, ours, model), model) for model in models]
    if is_one_run and candidate[1] is None and baseline[1] is not None:
        chosen = [(one, other) for one, other in chosen if one != other]
    if not chosen:
        problem = "there is only one model, which would be compared with itself"
        raise InputError([Fault(file=str(candidate[0]), problem=problem)])
    sides = _Sides()
    return [(sides.of(baseline[0], one), sides.of(candidate[0], other)) for one, other in chosen]


def _of_baseline(baseline: tuple[Path, str | None], manifest: Manifest, model: str) -> str:
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


class _Sides:
    """Sides of a comparison, each read once."""

    def __init__(self) -> None:
        self._read: dict[tuple[Path, str], ComparedSide] = {}

    def of(self, folder: Path, model: str) -> ComparedSide:
        """Return a model of a run."""
        if (folder, model) not in self._read:
            self._read[folder, model] = ComparedSide(folder, model)
        return self._read[folder, model]
