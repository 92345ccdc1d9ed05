"""Numbers of a run in words: rates and means with their intervals, and how many they rest on."""

from collections.abc import Iterator

from harness.system.shown_numbers import counted, counted_of, plain_number
from harness.system.shown_shares import percent
from harness.types.explanations import MissedGate
from harness.types.summaries import (
    GateResult,
    GraderSummary,
    ModelSummary,
    PassAtK,
    SliceSummary,
    Summary,
)

_BOTH = 2
_SMALLEST = 0.001
_GATE_DIGITS = (4, 6, 9, 15)


def ends(low: float | None, high: float | None) -> str:
    """Return the ends of an interval of shares; a dash where there is none."""
    return (
        "-"
        if low is None or high is None
        else f"{percent(low).removesuffix(' %')} to {percent(high)}"
    )


def amount(value: float | None, unit: str = "") -> str:
    """Return what a trial takes, to three digits or whole; a dash where it is not known."""
    if value is None:
        return "-"
    if unit == "USD" and value >= 1:
        return f"${value:,.2f}"
    if unit == "USD":
        return f"${plain_number(value, 3)}"
    if 0 < value < _SMALLEST:
        return f"<{_SMALLEST:g}"
    return plain_number(value, 3)


def gate_found(gate: GateResult | MissedGate) -> str:
    """Say what a run has of a gate, in as many digits as tell it from the bound; or why nothing."""
    if gate.value is None:
        return gate.note or "nothing measured"
    each = [plain_number(gate.value, digits) for digits in _GATE_DIGITS]
    return f"is {next((one for one in each if not gate.text.endswith(f' {one}')), each[0])}"


def rate_words(model: ModelSummary | SliceSummary, errors: str = "fail") -> str:
    """Say the pass rate of a model, what it rests on, how errors count, and both bounds."""
    if not model.trials:
        return "no trials"
    rate = model.pass_rate
    if rate.value is None:
        errored = f": {counted(model.errors, 'error')}" if model.errors else ""
        return f"no graded trial{errored}"
    said = f"pass rate {percent(rate.value)} ({', '.join(_basis(model, errors))})"
    if rate.low is not None and rate.high is not None:
        said += f", 95 % interval {ends(rate.low, rate.high)}"
    if _repeats(model, errors) and model.effective_trials is not None:
        said += f", worth {model.effective_trials:.1f} independent trials"
    return f"{said}{_bounds(model, errors)}"


def counted_trials(model: ModelSummary | SliceSummary, errors: str) -> int:
    """Count the trials behind the pass rate."""
    return model.trials - model.ungraded - (model.errors if errors == "exclude" else 0)


def _repeats(model: ModelSummary | SliceSummary, errors: str) -> bool:
    return counted_trials(model, errors) > model.samples > 0


def _basis(model: ModelSummary | SliceSummary, errors: str) -> Iterator[str]:
    trials = counted_trials(model, errors)
    if not _repeats(model, errors):
        yield f"{model.passed} of {trials}"
    elif model.samples == 1:
        yield f"{counted_of(model.passed, trials, 'epoch')} of one sample"
    elif trials % model.samples:
        yield f"{model.samples} samples, {trials} trials"
    else:
        yield f"{model.samples} samples x {trials // model.samples} epochs"
    if model.errors:
        yield _error_words(model, errors)


def _bounds(of: ModelSummary | SliceSummary | GraderSummary, errors: str) -> str:
    failed, passed = of.pass_rate_if_errors_failed, of.pass_rate_if_errors_passed
    if not of.errors or passed is None:
        return ""
    who = "it" if of.errors == 1 else "both" if of.errors == _BOTH else "all"
    if errors == "exclude" and failed is not None:
        return f"; {percent(failed)} if {who} had failed, {percent(passed)} if passed"
    return f"; {percent(passed)} if {who} had passed"


def try_words(tries: PassAtK, epochs: int) -> Iterator[str]:
    """Say pass@k and pass^k, and how many samples they rest on."""
    basis = f"{tries.k} of {epochs} epochs, {counted(tries.samples, 'sample')}"
    if tries.left_out:
        basis += f", {tries.left_out} with fewer left out"
    for sign, mean in (("@", tries.at_least_one), ("^", tries.all_of_them)):
        if mean.mean is not None:
            interval = "" if mean.low is None else f", 95 % interval {ends(mean.low, mean.high)}"
            yield f"pass{sign}{tries.k} {percent(mean.mean)} ({basis}){interval}"


def score_words(name: str, grader: GraderSummary) -> str | None:
    """Say the mean score of a grader whose scores are no plain passes; None for all others."""
    if grader.mean is None or grader.mean == grader.pass_rate.value:
        return None
    interval = (
        "" if grader.low is None else f", 95 % interval {grader.low:.3f} to {grader.high:.3f}"
    )
    return f"{name} {grader.mean:.3f}{interval} ({counted(grader.samples, 'sample')})"


def grader_bounds(grader: GraderSummary, errors: str) -> str | None:
    """Say how errors count in the pass rate of a grader, and both bounds; None without a rate."""
    bounds = _bounds(grader, errors)
    if not bounds or grader.pass_rate.value is None:
        return None
    return f"pass rate {percent(grader.pass_rate.value)} ({_error_words(grader, errors)}){bounds}"


def _error_words(of: ModelSummary | SliceSummary | GraderSummary, errors: str) -> str:
    as_failures = "counted as a failure" if of.errors == 1 else "counted as failures"
    how = "left out" if errors == "exclude" else as_failures
    return f"{counted(of.errors, 'error')} {how}"


def model_lines(name: str, model: ModelSummary, summary: Summary) -> Iterator[str]:
    """Say of a model what the table of its rates cannot hold."""
    if _repeats(model, summary.errors) or model.errors or model.pass_rate.value is None:
        yield f"{name}: {rate_words(model, summary.errors)}"
    if model.pass_at:
        last = model.pass_at[-1]
        yield from (f"{name}: {words}" for words in try_words(last, last.k))
    for grader, numbers in model.graders.items():
        shown = numbers.display_name or grader
        if words := score_words(shown, numbers):
            yield f"{name}: {words}"
        # Of trials that were no trial to any grader, the model's own line tells.
        told = numbers.errors > model.errors and grader_bounds(numbers, summary.errors)
        if told:
            yield f"{name}: {shown}: {told}"
