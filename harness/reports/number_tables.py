"""Tables of what trials took, and of the slices of a run, in a terminal."""

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from harness.reports.number_words import amount, counted_trials, ends
from harness.system.shown_numbers import counted
from harness.system.shown_shares import percent
from harness.system.texts import one_line
from harness.types.summaries import AMOUNTS, Amount, ModelSummary, SliceSummary, Summary

_MOST_SLICES = 20
_AFTER_ALL = 2.0
_NAMES = {
    "seconds": "seconds",
    "cost_usd": "cost",
    "tokens": "tokens",
    "steps": "steps",
    "tool_calls": "tool calls",
}


def plain_table(first: str, *columns: str) -> Table:
    """Return a table without borders: names on the left, numbers on the right."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0))
    table.add_column(first, overflow="fold", min_width=16)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def amount_table(summary: Summary) -> Table | None:
    """Return what a trial of each model takes; None where nothing is known."""
    table = plain_table("per trial", "mean", "95 % interval", "median", "p90", "trials")
    for name, model in summary.models.items():
        known = {key: of for key, of in model.per_trial.items() if of.trials}
        if known:
            table.add_section()
            table.add_row(Text(one_line(name), style="bold"))
        for key, of in known.items():
            table.add_row(f"  {_NAMES.get(key, key)}", *_amounts(of, AMOUNTS.get(key, "")))
    return table if table.row_count else None


def _amounts(of: Amount, unit: str) -> Iterator[str]:
    yield amount(of.mean, unit)
    has_ends = of.low is not None
    yield f"{amount(of.low, unit)} to {amount(of.high, unit)}" if has_ends else "-"
    yield amount(of.p50, unit)
    yield amount(of.p90, unit)
    yield f"{of.trials} of {of.trials + of.unknown}" if of.unknown else str(of.trials)


def slice_table(name: str, model: ModelSummary, summary: Summary) -> Table | None:
    """Return the slices of a model, and how many there are beside; None where there are none.

    Of more than twenty those are shown that passed least.
    """
    every = [
        (f"{key}: {value}", numbers)
        for key, values in model.slices.items()
        for value, numbers in values.items()
    ]
    if not every:
        return None
    lowest = sorted(_rank(numbers) for _, numbers in every)[:_MOST_SLICES]
    errors = any(numbers.errors for _, numbers in every)
    columns = (
        "passed",
        "pass rate",
        "95 % interval",
        "mean score",
        *(["errors"] if errors else []),
    )
    table = plain_table(f"slices of {one_line(name)}", *columns)
    for shown, numbers in every:
        if table.row_count < _MOST_SLICES and _rank(numbers) <= lowest[-1]:
            cells = list(_slice(numbers, summary.errors))[: len(columns)]
            table.add_row(Text(f"  {one_line(shown)}"), *cells)
    if len(every) > table.row_count:
        more = counted(len(every) - table.row_count, "further slice")
        table.add_row(f"  {more} in summary.json")
    return table


def _rank(numbers: SliceSummary) -> float:
    """Return the pass rate; a slice of which nothing was judged comes after all others."""
    rate = numbers.pass_rate.value
    return _AFTER_ALL if rate is None else rate


def _slice(numbers: SliceSummary, errors: str) -> Iterator[str]:
    rate, score = numbers.pass_rate, numbers.score.mean
    is_judged = rate.value is not None
    yield f"{numbers.passed}/{counted_trials(numbers, errors)}" if is_judged else "-"
    yield "-" if rate.value is None else percent(rate.value)
    yield ends(rate.low, rate.high)
    yield "-" if score is None else f"{score:.3f}"
    yield str(numbers.errors)
