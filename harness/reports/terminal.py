"""The summary of a run as tables in a terminal."""

from collections.abc import Iterator
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.system.texts import harmless, one_line
from harness.types.summaries import (
    FailedTrial,
    GateResult,
    GraderSummary,
    Interval,
    ModelSummary,
    Summary,
)

_SHOWN = 10
_WIDEST = 400
_GREEN, _RED, _YELLOW, _DIM = "green", "red", "yellow", "dim"


def print_summary(console: Console, summary: Summary, folder: Path) -> None:
    """Print the numbers of a run, why trials failed, its gates, and where it is stored."""
    console.print(Group(*_parts(summary, folder)), highlight=False)


def _parts(summary: Summary, folder: Path) -> Iterator[RenderableType]:
    yield Text(f"\n{harmless(summary.suite)}: {_size(summary)}", style="bold")
    yield _table(summary)
    yield from _failures(summary)
    yield from _remarks(summary)
    yield _verdict(summary)
    yield Text(f"Stored in {folder}", overflow="fold")


def _size(summary: Summary) -> str:
    trials = sum(model.trials for model in summary.models.values())
    planned = summary.planned
    of = f" of {planned} planned" if planned is not None and planned != trials else ""
    models = len(summary.models)
    return f"{trials} trials{of} on {models} model{'s' if models != 1 else ''}"


def _table(summary: Summary) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0))
    table.add_column("model", overflow="fold")
    table.add_column("grader", overflow="fold")
    for name in ("passed", "pass rate", "95 % interval", "mean score", "errors", "skipped"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, model in summary.models.items():
        _add_model(table, name, model)
    return table


def _add_model(table: Table, name: str, model: ModelSummary) -> None:
    counted = model.trials - model.ungraded
    table.add_row(
        Text(harmless(name), style="bold"),
        Text("trial", style="bold"),
        _count(model.passed, counted),
        _rate(model.pass_rate),
        _ends(model.pass_rate),
        _number(model.score.mean),
        _errors(model.errors),
        _errors(model.ungraded, style=_DIM),
    )
    graders = list(model.graders.items())
    for grader, numbers in graders:
        _add_grader(table, grader, numbers, last=grader == graders[-1][0])


def _add_grader(table: Table, name: str, numbers: GraderSummary, *, last: bool) -> None:
    table.add_row(
        "",
        harmless(numbers.display_name or name),
        _count(numbers.passed, numbers.passed + numbers.failed + numbers.errors),
        _rate(numbers.pass_rate),
        _ends(numbers.pass_rate),
        _number(numbers.mean),
        _errors(numbers.errors),
        _errors(numbers.skipped, style=_DIM),
        end_section=last,
    )


def _count(passed: int, counted: int) -> Text:
    style = _GREEN if passed == counted else _RED
    return Text(f"{passed}/{counted}", style=style if counted else _DIM)


def _rate(rate: Interval) -> str:
    return "-" if rate.value is None else f"{rate.value:.1%}".replace("%", " %")


def _ends(rate: Interval) -> str:
    if rate.low is None or rate.high is None:
        return "-"
    return f"{100 * rate.low:.1f} to {100 * rate.high:.1f} %"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _errors(count: int, style: str = _RED) -> Text:
    return Text(str(count), style=style) if count else Text("0", style=_DIM)


def _failures(summary: Summary) -> Iterator[RenderableType]:
    for name, model in summary.models.items():
        failed = [f for f in summary.first_failures if f.model == name][:_SHOWN]
        if not failed:
            continue
        total = model.trials - model.ungraded - model.passed
        shown = "" if total <= len(failed) else f", the first {len(failed)}"
        yield Text(f"\nFailing on {harmless(name)}: {total}{shown}", style="bold")
        yield Padding(_failure_table(failed), (0, 0, 1, 2))


def _failure_table(failed: list[FailedTrial]) -> Table:
    repeated = any(failure.epoch for failure in failed)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(no_wrap=True, max_width=32)
    table.add_column(max_width=24, overflow="fold")
    table.add_column(overflow="fold")
    for failure in failed:
        epoch = f" (epoch {failure.epoch})" if repeated else ""
        table.add_row(
            Text(one_line(failure.sample_id) + epoch),
            Text(one_line(failure.grader or failure.status.replace("_", " ")), style=_RED),
            Text(one_line(failure.evidence, _WIDEST)),
        )
        for label, text in _rests_on(failure):
            table.add_row("", Text(label, style=_DIM), Text(one_line(text, _WIDEST), style=_DIM))
    return table


def _rests_on(failure: FailedTrial) -> Iterator[tuple[str, str]]:
    named = {"points at": failure.pointed, "wanted": failure.wanted, "said": failure.said}
    for label, text in named.items():
        if text is not None:
            yield f"  {label}", text or "(nothing)"


def _remarks(summary: Summary) -> Iterator[RenderableType]:
    for name, model in summary.models.items():
        if model.errors and model.pass_rate_if_errors_passed is not None:
            yield Text(
                f"{harmless(name)}: {model.errors} errors counted as failures; "
                f"{100 * model.pass_rate_if_errors_passed:.1f} % if all had passed",
                style=_YELLOW,
            )
    for warning in summary.warnings:
        yield Text(f"warning: {harmless(warning)}", style=_YELLOW)
    for gate in summary.gates:
        yield _gate(gate)
    for reason in summary.reasons:
        yield Text(f"incomplete: {harmless(reason)}", style=_RED)


def _gate(gate: GateResult) -> Text:
    word, style = {
        True: ("met", _GREEN),
        False: ("missed", _RED),
        None: ("not judged", _YELLOW),
    }[gate.passed]
    value = "nothing measured" if gate.value is None else f"is {gate.value:.4g}"
    return Text(f"gate {word}: {harmless(gate.text)} ({value})", style=style)


def _verdict(summary: Summary) -> Text:
    if not summary.complete:
        return Text("The run is incomplete and cannot be judged.", style=f"bold {_RED}")
    if not summary.passed:
        return Text("The run has missed a gate.", style=f"bold {_RED}")
    said = "met every gate" if summary.gates else "is complete; the suite has no gates"
    return Text(f"The run {said}.", style=f"bold {_GREEN}")
