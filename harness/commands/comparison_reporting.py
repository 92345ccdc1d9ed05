"""What `compare` and `run --baseline` share: runs are compared, shown, and give an exit code."""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import click
import msgspec

from harness.commands.run_reporting import Compared, console, gravest
from harness.reports.comparison_markdown import comparisons_markdown
from harness.reports.comparison_text import print_comparisons
from harness.running.baseline_grading import Regrading
from harness.running.compared_metrics import (
    MetricChoice,
    chosen_metrics,
    require_suite_metrics,
)
from harness.running.compared_models import Named, PairedModels, pair_models
from harness.running.comparing import CompareOptions, compare
from harness.running.incomparable_models import incomparable
from harness.running.recording import RunResult
from harness.running.run_addresses import (
    RunAddress,
    find_baseline,
    missing_words,
)
from harness.storing.baseline_files import UNPACKED, is_baseline_file, require_all_trials
from harness.storing.manifests import Manifest, read_manifest
from harness.storing.run_folders import COMPARISON
from harness.system.clock import now
from harness.system.files import whole_file
from harness.system.loops import run_to_end
from harness.system.texts import one_line
from harness.types.comparisons import Comparison, Comparisons
from harness.types.errors import Fault, HarnessError, InputError, StoreError
from harness.types.suites import Suite
from harness.types.verdicts import Question

_STANDARD_OUTPUT = Path("-")
_CODES = {"invalid": 3, "regressed": 1, "improved": 0, "no_worse": 0, "inconclusive": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonChoices:
    """What the command line says of a comparison."""

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


def compare_runs(
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
        found = baseline or baseline_of(choices, candidate[0], workspace)
        if found is None:
            code = 3 if choices.requires_baseline else 0
            missing = missing_words(choices.baseline)
            return Comparisons(first_night=True, exit_code=code, missing=missing)
        _check_file(choices.baseline, found)
        paired = pair_models((found, choices.baseline.model), candidate)
        if not paired.sides:
            made = incomparable(found, candidate[0], paired, choices.question)
        else:
            with _said_of_the_file(choices, workspace):
                made = _compared(paired, choices, workspace)
    return Comparisons(comparisons=made, exit_code=_code(made, is_strict=choices.is_strict))


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


def _compared(
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
    first, *others = run_to_end(compare(paired.sides, options))
    warnings = (*paired.warnings(), *first.warnings)
    return (msgspec.structs.replace(first, warnings=warnings), *others)


def compared_as_it_ends(choices: ComparisonChoices) -> Compared:
    """Return what compares a run of a suite as it ends, and puts `comparison.json` into it.

    Raises:
        InputError: what is named as the baseline is none, or a metric; nothing was driven.
        StoreError: the baseline is damaged; nothing was driven.
    """
    suite = choices.suite
    if suite is not None:
        rule = msgspec.to_builtins(suite.comparison) if suite.comparison else None
        require_suite_metrics(chosen_metrics(rule, choices.metrics), suite)
    with tempfile.TemporaryDirectory(prefix="regrade-compare-") as scratch:
        found = find_baseline(
            choices.baseline,
            choices.out,
            suite=suite.name if suite else "",
            besides=None,
            workspace=Path(scratch),
        )
        if found is not None:
            _check_file(choices.baseline, found)
            _require_model(choices.baseline, read_manifest(found))

    def compared(result: RunResult) -> Comparisons:
        place = result.folder / COMPARISON
        try:
            found = compare_runs((result.folder, None), choices)
            show(found, json_to=place)
        except HarnessError as error:
            found = _not_compared(error)
            # What explains the run later says it again, unless this is what cannot be written.
            with suppress(HarnessError):
                _write(place, _json(found))
        return found

    return compared


def _not_compared(error: HarnessError) -> Comparisons:
    faults = error.faults if isinstance(error, InputError) else ()
    problems = tuple(one_line(line) for line in (map(str, faults) if faults else [error.line]))
    for problem in problems:
        click.echo(f"not compared: {problem}", err=True)
    return Comparisons(exit_code=3, problems=problems)


def _json(compared: Comparisons) -> bytes:
    return msgspec.json.format(msgspec.json.encode(compared), indent=2)


def _check_file(baseline: RunAddress, found: Path) -> None:
    path = Path(baseline.run)
    if is_baseline_file(path):
        require_all_trials(found, path)


def _require_model(baseline: RunAddress, manifest: Manifest) -> None:
    if baseline.model is not None and baseline.model not in manifest.models:
        problem, allowed = f"no model {baseline.model!r}", f"one of {', '.join(manifest.models)}"
        raise InputError([Fault(file=baseline.run, problem=problem, allowed=allowed)])


def baseline_of(choices: ComparisonChoices, candidate: Path, workspace: Path) -> Path | None:
    """Find the baseline of a candidate; None where there is none yet."""
    return find_baseline(
        choices.baseline,
        choices.out,
        suite=read_manifest(candidate).suite,
        besides=candidate,
        workspace=workspace,
    )


def _code(comparisons: Iterable[Comparison], *, is_strict: bool) -> int:
    codes = dict(_CODES, inconclusive=4) if is_strict else _CODES
    return gravest(codes[one.verdict.verdict] for one in comparisons)


def show(
    compared: Comparisons, *, json_to: Path | None = None, markdown_to: Path | None = None
) -> None:
    """Print a comparison, and write it as JSON and Markdown where that was asked for.

    A file that is `-` is standard output, which then holds nothing else.

    Raises:
        InputError: a file cannot be written.
    """
    if _STANDARD_OUTPUT in {json_to, markdown_to}:
        pass
    elif compared.first_night:
        click.echo(one_line(f"First night: nothing was compared, for {compared.missing}"))
    else:
        print_comparisons(console(), compared)
    if json_to is not None:
        _write(json_to, _json(compared))
    if markdown_to is not None:
        _write(markdown_to, comparisons_markdown(compared).encode())


def _write(path: Path, text: bytes) -> None:
    if path == _STANDARD_OUTPUT:
        click.echo(text.decode().rstrip("\n"), color=False)
        return
    try:
        with whole_file(path) as draft:
            draft.write_bytes(text)
    except OSError as error:
        problem = f"cannot be written: {error.strerror}"
        raise InputError([Fault(file=str(path), problem=problem)]) from error


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


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value < float("inf") else None


def _no_margin(text: str) -> Fault:
    allowed = "a fraction such as 0.05 (5 points), or METRIC=NUMBER, above 0"
    return Fault(file="--margin", problem=f"found {text!r}", allowed=allowed)
