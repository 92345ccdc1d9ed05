"""What the command line or a caller of the API chooses beside the suite."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.loading.price_tables import price_faults
from harness.loading.selections import Selection
from harness.types.errors import Fault, InputError, SuiteError
from harness.types.suites import MOST_CONCURRENCY, MOST_EPOCHS, SCRIPTED, Suite, TargetSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedWith:
    """What a run is compared with as it ends, and by what, in the words of the command line.

    `baseline` is a run; `metrics` and `margins` are empty where the suite's count; `required` says
    that there has to be a baseline.
    """

    baseline: str
    metrics: tuple[str, ...] = ()
    margins: tuple[str, ...] = ()
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Choices of one run; None or empty leaves the suite's word.

    `command` is the command line that made the choices, for the manifest; `target_file` and
    `parameters` are what the suite was loaded with. `narrowed` is what the choices leave of the
    suite, filled in as the run begins. `compared_with` is for the manifest: who runs it compares.

    Raises:
        InputError: a number is out of its bounds, or a model has no name or is named twice.
    """

    models: tuple[str, ...] = ()
    epochs: int | None = None
    concurrency: int | None = None
    selection: Selection = field(default_factory=Selection)
    out: Path = Path("runs")
    command: tuple[str, ...] = ()
    target_file: Path | None = None
    parameters: tuple[str, ...] = ()
    narrowed: Mapping[str, Any] = field(default_factory=dict)
    compared_with: ComparedWith | None = None

    def __post_init__(self) -> None:
        """Refuse choices that no run can follow."""
        if faults := list(_faults(self)):
            raise InputError(faults)


def _faults(options: RunOptions) -> Iterator[Fault]:
    numbers = {
        "epochs": (options.epochs, MOST_EPOCHS),
        "concurrency": (options.concurrency, MOST_CONCURRENCY),
        "limit": (options.selection.limit, None),
    }
    for name, (number, most) in numbers.items():
        if number is None or (number >= 1 and (most is None or number <= most)):
            continue
        allowed = f"a whole number from 1 {f'to {most:,}' if most else 'on'}"
        yield Fault(file=name, problem=f"found {number}", allowed=allowed)
    if not all(options.models):
        yield Fault(file="models", problem="a model has no name", allowed="names of models")
    for name, times in Counter(options.models).items():
        if times > 1:
            yield Fault(
                file="models", problem=f'"{name}" is named twice', allowed="each model once"
            )


def apply_options(suite: Suite, options: RunOptions) -> tuple[Suite, TargetSpec]:
    """Put the choices into the suite.

    Raises:
        SuiteError: the suite has no target, needs a script for its scripted models, or limits
            what models cost whose price is not known.
    """
    if suite.target is None or suite.grade_only:
        problem = "the suite has no target: it can only grade, or name one with --target"
        missing = [] if suite.target else [_fault(suite, "target", problem)]
        raise SuiteError([*missing, *sorted(suite.grade_only)])
    target = replace(suite.target, models=options.models or suite.target.models)
    if target.script is None and any(m.startswith(SCRIPTED) for m in target.models):
        raise SuiteError([_fault(suite, "target.script", "scripted models need a script")])
    limits = replace(suite.limits, concurrency=_concurrency(suite, options, target))
    epochs = options.epochs or suite.epochs
    if faults := tuple(price_faults(suite, target.models)):
        raise SuiteError(faults)
    return replace(suite, target=target, limits=limits, epochs=epochs), target


def _concurrency(suite: Suite, options: RunOptions, target: TargetSpec) -> int:
    wanted = options.concurrency or suite.limits.concurrency
    most: int | None = getattr(target.target, "sessions_at_once", None)
    return wanted if most is None else min(wanted, most)


def _fault(suite: Suite, path: str, problem: str) -> Fault:
    return Fault(file=str(suite.source or suite.name), path=path, problem=problem)


SUITE_FILES = ("suite.yaml", "eval.yaml", "eval.yml")
"""What the file of a suite is called in a folder that stands for it: ours, then Vally's."""


def suite_file(given: str | Path) -> Path:
    """Return the file of a suite that is named by its file, or by a folder that holds it."""
    path = Path(given)
    if not path.is_dir():
        return path
    found = (path / name for name in SUITE_FILES if (path / name).is_file())
    return next(found, path / SUITE_FILES[0])
