"""The summary of a run as tables in a terminal."""

import shlex
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.reports.number_tables import amount_table, plain_table, slice_table
from harness.reports.number_words import counted_trials, ends, gate_found, model_lines
from harness.system.like_texts import alike
from harness.system.shown_numbers import counted, plain_number
from harness.system.shown_shares import percent
from harness.system.texts import one_line
from harness.types.summaries import (
    FailedTrial,
    GateResult,
    GraderSummary,
    Interval,
    ModelSummary,
    Summary,
)
from harness.types.trajectories import Usage
from harness.types.trials import ERROR_STATUSES

_SHOWN = 10
_WIDEST = 400
_GREEN, _RED, _YELLOW, _DIM = "green", "red", "yellow", "dim"


def print_summary(console: Console, summary: Summary, folder: Path) -> None:
    """Print the numbers of a run, why trials failed, its gates, and where it is stored."""
    with console.capture() as captured:
        console.print(Group(*_parts(summary, folder)), highlight=False)
    # Tables are padded to the full width, which nobody wants in a log.
    lines = captured.get().splitlines()
    console.file.write("".join(f"{line.rstrip()}\n" for line in lines))
    console.file.flush()


def _parts(summary: Summary, folder: Path) -> Iterator[RenderableType]:
    yield Text(f"\n{one_line(summary.suite)}: {_size(summary)}", style="bold")
    yield _table(summary)
    yield from _numbers(summary)
    yield from _failures(summary, folder)
    yield from _remarks(summary)
    yield _verdict(summary)
    yield Text(one_line(f"Stored in {folder}"), overflow="fold")


def _size(summary: Summary) -> str:
    trials = sum(model.trials for model in summary.models.values())
    planned = summary.planned
    of = f" of {planned} planned" if planned is not None and planned != trials else ""
    models = len(summary.models)
    return f"{counted(trials, 'trial')}{of} on {counted(models, 'model')}"


def _table(summary: Summary) -> Table:
    excludes = summary.errors == "exclude"
    rows = [row for model in summary.models.items() for row in _rows(*model, excludes=excludes)]
    # Columns that hold nothing but zeros would cost the names their room.
    shown = [*_ALWAYS, *(name for name in _SELDOM if any(row[name].plain != "0" for row in rows))]
    table = plain_table("", *shown)
    for row in rows:
        if row["model"].plain:
            table.add_section()
            table.add_row(row["model"])
        table.add_row(row["name"], *(row[name] for name in shown))
    return table


_ALWAYS = ("passed", "pass rate", "95 % interval", "mean score")
_SELDOM = ("errors", "skipped")


def _rows(name: str, model: ModelSummary, *, excludes: bool) -> Iterator[dict[str, Text]]:
    trials = counted_trials(model, "exclude" if excludes else "fail")
    yield {
        "model": Text(one_line(name), style="bold"),
        "name": Text("  trial"),
        "passed": _count(model.passed, trials, model.pass_rate),
        **_estimates(model.pass_rate, model.score.mean),
        "errors": _errors(model.errors),
        "skipped": Text(str(model.ungraded), style=_DIM),
    }
    for grader, numbers in model.graders.items():
        yield _grader_row(grader, numbers, excludes=excludes)


def _grader_row(name: str, numbers: GraderSummary, *, excludes: bool) -> dict[str, Text]:
    counted = numbers.passed + numbers.failed + (0 if excludes else numbers.errors)
    return {
        "model": Text(),
        "name": Text(f"  {one_line(numbers.display_name or name)}"),
        "passed": _count(numbers.passed, counted, numbers.pass_rate),
        **_estimates(numbers.pass_rate, numbers.mean),
        "errors": _errors(numbers.errors),
        "skipped": Text(str(numbers.skipped), style=_DIM),
    }


def _estimates(rate: Interval, score: float | None) -> dict[str, Text]:
    return {
        "pass rate": Text("-" if rate.value is None else percent(rate.value)),
        "95 % interval": Text(ends(rate.low, rate.high)),
        "mean score": Text("-" if score is None else f"{score:.3f}"),
    }


def _count(passed: int, counted: int, rate: Interval) -> Text:
    if rate.value is None:
        return Text("-", style=_DIM)  # none of them was judged
    return Text(f"{passed}/{counted}", style=_GREEN if passed == counted else _RED)


def _errors(count: int) -> Text:
    return Text(str(count), style=_RED if count else _DIM)


def _numbers(summary: Summary) -> Iterator[RenderableType]:
    """Return what the table of rates does not hold: lines, what trials took, and slices."""
    for name, model in summary.models.items():
        style = _YELLOW if model.errors else ""
        for line in model_lines(name, model, summary):
            yield Text(one_line(line), style=style)
    tables = [slice_table(name, model, summary) for name, model in summary.models.items()]
    for table in (*tables, amount_table(summary)):
        if table is not None:
            yield Text()
            yield table


def _failures(summary: Summary, folder: Path) -> Iterator[RenderableType]:
    for name, model in summary.models.items():
        failed = [f for f in summary.first_failures if f.model == name][:_SHOWN]
        if not failed:
            continue
        total = model.trials - model.ungraded - model.passed
        shown = "" if total <= len(failed) else f", the first {len(failed)}"
        yield Text(f"\nFailing on {one_line(name)}: {total}{shown}", style="bold")
        yield Padding(_failure_table(failed), (0, 0, 0, 2))
    if summary.first_failures:
        command = one_line(f"regrade show {shlex.quote(str(folder))} --failed")
        yield Text(f"\nEverything that happened in them: {command}\n", style=_DIM, overflow="fold")


def _failure_table(failed: list[FailedTrial]) -> Table:
    repeated = any(failure.epoch for failure in failed)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(no_wrap=True, max_width=32)
    table.add_column(max_width=24, overflow="fold")
    table.add_column(overflow="fold")
    for failure, same in _told_once(failed):
        epoch = f" (epoch {failure.epoch})" if repeated else ""
        table.add_row(
            Text(one_line(failure.sample_id) + epoch),
            Text(one_line(failure.grader or failure.status.replace("_", " ")), style=_RED),
            Text(one_line(failure.evidence, _WIDEST)),
        )
        for label, text in () if _is_error(failure) else _rests_on(failure):
            table.add_row("", Text(label, style=_DIM), Text(one_line(text, _WIDEST), style=_DIM))
        if same:
            names = one_line(", ".join(one.sample_id for one in same), _WIDEST)
            is_equal = all(one.evidence == failure.evidence for one in same)
            how = "the same" if is_equal else "alike"
            table.add_row(f"and {len(same)} more", "", Text(f"{how}: {names}", style=_DIM))
    return table


def _told_once(failed: list[FailedTrial]) -> Iterator[tuple[FailedTrial, list[FailedTrial]]]:
    """Return failures, each with the later ones that an error has stopped in like words."""
    groups: dict[object, list[FailedTrial]] = {}
    for place, failure in enumerate(failed):
        key = (failure.grader, alike(failure.evidence)) if _is_error(failure) else place
        groups.setdefault(key, []).append(failure)
    for first, *same in groups.values():
        yield first, same


def _is_error(failure: FailedTrial) -> bool:
    return failure.status in ERROR_STATUSES


def _rests_on(failure: FailedTrial) -> Iterator[tuple[str, str]]:
    named = {"points at": failure.pointed, "wanted": failure.wanted, "said": failure.said}
    for label, text in named.items():
        if text is not None:
            yield f"  {label}", text or "(nothing)"


def _remarks(summary: Summary) -> Iterator[RenderableType]:
    if summary.errors == "exclude":
        yield Text("Errors are left out of the rates (errors: exclude).", style=_YELLOW)
    for name, model in summary.models.items():
        if model.judge_usage is not None:
            yield Text(f"judges of {one_line(name)}: {_usage(model.judge_usage)}", style=_DIM)
    for warning in summary.warnings:
        yield Text(f"warning: {one_line(warning)}", style=_YELLOW)
    for gate in summary.gates:
        yield from _gate(gate)
    for reason in summary.reasons:
        yield Text(f"incomplete: {one_line(reason)}", style=_RED)


def _usage(usage: Usage) -> str:
    tokens = {"in": usage.input_tokens, "out": usage.output_tokens}
    said = [f"{count:,} tokens {way}" for way, count in tokens.items() if count is not None]
    cost = [] if usage.cost_usd is None else [f"${usage.cost_usd:,.4f}"]
    return ", ".join([*said, *cost])


def _gate(gate: GateResult, indent: str = "") -> Iterator[Text]:
    word, style = {
        True: ("met", _GREEN),
        False: ("missed", _RED),
        None: ("not judged", _YELLOW),
    }[gate.passed]
    found = "" if gate.parts else f" ({_found(gate)})"
    yield Text(f"{indent}gate {word}: {one_line(gate.text)}{found}", style=style)
    for part in gate.parts:
        yield from _gate(part, f"{indent}  ")


def _found(gate: GateResult) -> str:
    value = gate_found(gate)
    numbers = [
        f"{one_line(name)} {'-' if number is None else plain_number(number)}"
        for name, number in gate.numbers.items()
    ]
    return f"{value}: {', '.join(numbers)}" if numbers else value


def _verdict(summary: Summary) -> Text:
    if not summary.complete:
        return Text("The run is incomplete and cannot be judged.", style=f"bold {_RED}")
    if not summary.passed:
        return Text("The run has missed a gate.", style=f"bold {_RED}")
    judged = all(gate.passed is not None for gate in summary.gates)
    every = "every gate" if judged else "every gate that could be judged"
    said = f"met {every}" if summary.gates else "is complete; the suite has no gates"
    return Text(f"The run {said}.", style=f"bold {_GREEN}")
