"""A comparison in a terminal: the verdict first, then the numbers, samples, and what differs."""

from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.reports.comparison_words import (
    amount,
    change_line,
    difference,
    evidence_lines,
    group_sentence,
    headline,
    interval,
    moved_by,
    p_value,
    pair_line,
    pairing_lines,
    power_lines,
    sides_line,
    verdict_word,
)
from harness.system.texts import one_line
from harness.types.comparisons import Comparison, Comparisons, SamplePair
from harness.types.verdicts import VERDICT_WORDS, MetricVerdict

_SHOWN = 10
_STYLES = {
    "invalid": "bold red",
    "regressed": "bold red",
    "improved": "bold green",
    "no_worse": "bold green",
    "inconclusive": "bold yellow",
}


def print_comparisons(console: Console, compared: Comparisons) -> None:
    """Print candidates against their baselines: a table of them where there are several."""
    parts: list[RenderableType] = []
    if len(compared.comparisons) > 1:
        parts.append(_overview(compared.comparisons))
    for one in compared.comparisons:
        parts.extend(_parts(one))
    with console.capture() as captured:
        console.print(Group(*parts), highlight=False)
    # Tables are padded to the full width, which nobody wants in a log.
    lines = captured.get().splitlines()
    console.file.write("".join(f"{line.rstrip()}\n" for line in lines))
    console.file.flush()


def _overview(comparisons: Sequence[Comparison]) -> Table:
    table = _table("model", "baseline", "trial", "difference", "verdict")
    for one in comparisons:
        first = next((m for m in one.verdict.metrics if m.gating), None)
        table.add_row(
            one_line(one.candidate.model),
            one_line(one.baseline.model),
            "-" if first is None else amount(first.candidate.value, first.unit),
            "-" if first is None else difference(first),
            Text(VERDICT_WORDS[one.verdict.verdict], style=_STYLES[one.verdict.verdict]),
        )
    return table


def _table(*columns: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0))
    for place, name in enumerate(columns):
        table.add_column(name, overflow="fold", justify="left" if place == 0 else "right")
    return table


def _parts(comparison: Comparison) -> Iterator[RenderableType]:
    yield Text(f"\n{one_line(comparison.suite)}: {sides_line(comparison)}", style="bold")
    yield Text(headline(comparison), style=_STYLES[comparison.verdict.verdict])
    for line in pairing_lines(comparison):
        yield Text(line)
    for metric in comparison.verdict.metrics:
        if metric.gating:
            yield from (Text(line, style="yellow") for line in power_lines(metric))
    yield from (Text(f"warning: {one_line(w)}", style="yellow") for w in _warnings(comparison))
    if comparison.verdict.metrics:
        yield Text("")
        yield _metrics(comparison.verdict.metrics)
    yield from _samples("Regressed", comparison.regressed)
    for group in comparison.divergences:
        yield Text(group_sentence(group), style="bold")
    yield from _samples("Improved", comparison.improved)
    yield from _samples("Nothing but errors on one side", comparison.errored)
    if comparison.changes:
        yield Text("\nWhat else differs", style="bold")
        yield from (Text(f"  {change_line(change)}") for change in comparison.changes)


def _warnings(comparison: Comparison) -> Iterator[str]:
    yield from comparison.warnings
    for metric in comparison.verdict.metrics:
        if metric.gating:
            yield from metric.warnings


def _metrics(metrics: Sequence[MetricVerdict]) -> Table:
    table = _table(
        "", "baseline", "candidate", "difference", "90 % interval", "adjusted p", "verdict"
    )
    for one in metrics:
        gate = "" if one.gating else "dim"
        table.add_row(
            one_line(one.metric),
            amount(one.baseline.value, one.unit),
            amount(one.candidate.value, one.unit),
            moved_by(one),
            interval(one),
            p_value(one),
            Text(verdict_word(one)),
            style=gate,
        )
    return table


def _samples(title: str, pairs: Sequence[SamplePair]) -> Iterator[RenderableType]:
    if not pairs:
        return
    more = f", the first {_SHOWN}" if len(pairs) > _SHOWN else ""
    yield Text(f"\n{title}: {len(pairs)}{more}", style="bold")
    for pair in pairs[:_SHOWN]:
        yield Text(f"  {pair_line(pair)}", overflow="fold")
        yield Padding(_evidence(pair), (0, 0, 0, 4))


def _evidence(pair: SamplePair) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    for label, text in evidence_lines(pair):
        table.add_row(label, Text(text))
    return table
