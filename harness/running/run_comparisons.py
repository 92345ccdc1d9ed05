"""Runs compared as they are named: found, paired model by model, and judged."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from harness.loading.suite_files import load_suite
from harness.loading.vally_parameters import Parameters
from harness.running.baseline_grading import Regrading
from harness.running.compared_metrics import MetricChoice
from harness.running.compared_models import Named, PairedModels, pair_models
from harness.running.comparing import CompareOptions, compare
from harness.running.incomparable_models import incomparable
from harness.running.run_addresses import (
    RunAddress,
    Wanted,
    find_baseline,
    find_candidate,
    is_one_run,
    missing_words,
)
from harness.storing.baseline_files import UNPACKED, is_baseline_file, require_all_trials
from harness.storing.manifests import read_manifest
from harness.system.clock import now
from harness.types.comparisons import Comparison, Comparisons
from harness.types.errors import Fault, InputError, StoreError
from harness.types.suites import Suite
from harness.types.verdicts import Question

_CODES = {"invalid": 3, "regressed": 1, "improved": 0, "no_worse": 0, "inconclusive": 0}
_GRAVEST_FIRST = (3, 1, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonChoices:
    """What is chosen of a comparison; runs are sought under `out`.

    With `is_earlier`, the `latest` is one that was made before the candidate.
    """

    baseline: RunAddress
    out: Path
    metrics: MetricChoice = field(default_factory=MetricChoice)
    question: Question = "fixed_suite"
    suite_file: Path | None = None
    suite: Suite | None = None
    regrades_judges: bool = False
    is_strict: bool = False
    requires_baseline: bool = False
    confirmed: bool = False
    is_earlier: bool = False


async def compare_named(candidate: RunAddress, choices: ComparisonChoices) -> Comparisons:
    """Compare a run, as it is named, with its baseline; two models of one run with each other.

    Raises:
        InputError: there is no such run, or as `compare_runs` does.
        SuiteError: the suite that is named cannot be used.
        StoreError: a run cannot be read.
    """
    folder = find_candidate(candidate, choices.out)
    choices = _with_suite(choices, folder)
    same = folder if is_one_run(choices.baseline, candidate) else None
    return await compare_runs((folder, candidate.model), choices, same)


def _with_suite(choices: ComparisonChoices, candidate: Path) -> ComparisonChoices:
    """Read the suite that is named, whether or not anything is graded again."""
    if choices.suite_file is None:
        return choices
    parameters = Parameters(read_manifest(candidate).parameters)
    return replace(choices, suite=load_suite(choices.suite_file, parameters))


async def compare_runs(
    candidate: Named, choices: ComparisonChoices, baseline: Path | None = None
) -> Comparisons:
    """Compare a run, or a model of it, with its baseline; no baseline is a first night.

    `baseline` is its directory, where that was found beforehand. Models without a baseline are
    warned of, with the first of the others; where there are no others, nothing can be compared.

    Raises:
        InputError: a model or metric is not there, or the baseline is no run.
        StoreError: a run cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="regrade-compare-") as scratch:
        workspace = Path(scratch)
        found = baseline or baseline_of(choices, candidate, workspace)
        if found is None:
            code = 3 if choices.requires_baseline else 0
            missing = missing_words(choices.baseline, is_earlier=choices.is_earlier)
            return Comparisons(first_night=True, exit_code=code, missing=missing)
        require_whole_file(choices.baseline, found)
        paired = pair_models((found, choices.baseline.model), candidate)
        if not paired.sides:
            made = incomparable(found, candidate[0], paired, choices.question)
        else:
            with _said_of_the_file(choices, workspace):
                made = await _compared(paired, choices, workspace)
    return Comparisons(comparisons=made, exit_code=_code(made, is_strict=choices.is_strict))


def baseline_of(choices: ComparisonChoices, candidate: Named, workspace: Path) -> Path | None:
    """Find the baseline of a candidate; None where there is none yet."""
    wanted = Wanted.by(*candidate, is_earlier=choices.is_earlier)
    return find_baseline(choices.baseline, choices.out, wanted, workspace=workspace)


def require_whole_file(baseline: RunAddress, found: Path) -> None:
    """Refuse an exported run, unpacked into `found`, that lacks trials.

    Raises:
        StoreError: some are missing; or it cannot be read.
    """
    path = Path(baseline.run)
    if is_baseline_file(path):
        require_all_trials(found, path)


@contextmanager
def _said_of_the_file(choices: ComparisonChoices, workspace: Path) -> Iterator[None]:
    """Say what is wrong with an unpacked baseline of the file: it lies there for now only."""
    try:
        yield
    except StoreError as error:
        if not Path(error.place).is_relative_to(workspace / UNPACKED):
            raise
        hint = "export it again: regrade baseline export RUN"
        raise StoreError(str(error), place=choices.baseline.run, hint=hint) from error


async def _compared(
    paired: PairedModels, choices: ComparisonChoices, workspace: Path
) -> tuple[Comparison, ...]:
    regrading = Regrading(
        folder=workspace / "graded",
        suite=choices.suite,
        suite_file=choices.suite_file,
        asks_models=choices.regrades_judges,
    )
    is_file = is_baseline_file(Path(choices.baseline.run))
    options = CompareOptions(
        regrading=regrading,
        now=now(),
        choice=choices.metrics,
        question=choices.question,
        confirmed=choices.confirmed,
        baseline_file=choices.baseline.run if is_file else "",
    )
    first, *others = await compare(paired.sides, options)
    warnings = (*paired.warnings(), *first.warnings)
    return (msgspec.structs.replace(first, warnings=warnings), *others)


def _code(comparisons: Iterable[Comparison], *, is_strict: bool) -> int:
    codes = dict(_CODES, inconclusive=4) if is_strict else _CODES
    found = {codes[one.verdict.verdict] for one in comparisons}
    return next((code for code in _GRAVEST_FIRST if code in found), 0)


def read_margins(given: Iterable[str], choice: MetricChoice) -> MetricChoice:
    """Add margins as the command line gives them: `0.05`, or `METRIC=0.05`.

    Raises:
        InputError: one is no number above 0, or a general one is no fraction.
    """
    margin, margins, faults = choice.margin, dict(choice.margins), []
    for text in given:
        metric, mark, number = text.rpartition("=")
        value = _number(number)
        if value is None or (not mark and value >= 1):
            faults.append(_no_margin(text))
        elif mark:
            margins[metric] = value
        else:
            margin = value
    if faults:
        raise InputError(faults)
    return replace(choice, margin=margin, margins=margins)


def with_margins(margin: float | Mapping[str, float] | None, choice: MetricChoice) -> MetricChoice:
    """Add margins as a caller in Python gives them: a fraction, or numbers by metric.

    Raises:
        InputError: one is no number above 0, or a general one is no fraction.
    """
    if margin is None:
        return choice
    if not isinstance(margin, Mapping):
        if not _is_margin(margin) or margin >= 1:
            raise InputError([_no_margin_of("margin", margin)])
        return replace(choice, margin=margin)
    faults = [
        _no_margin_of(f"margin[{name!r}]", value)
        for name, value in margin.items()
        if not _is_margin(value)
    ]
    if faults:
        raise InputError(faults)
    return replace(choice, margins={**choice.margins, **margin})


def _is_margin(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 < value < float("inf")


def _no_margin_of(place: str, value: object) -> Fault:
    allowed = "a fraction such as 0.05 (5 points), or numbers above 0 by metric"
    return Fault(file=place, problem=f"found {value!r}", allowed=allowed)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value < float("inf") else None


def _no_margin(text: str) -> Fault:
    allowed = "a fraction such as 0.05 (5 points), or METRIC=NUMBER, above 0"
    return Fault(file="--margin", problem=f"found {text!r}", allowed=allowed)
