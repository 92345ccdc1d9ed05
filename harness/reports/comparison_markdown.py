"""A comparison as Markdown, fit for a comment on a pull request."""

import re
from collections.abc import Iterable, Iterator, Sequence

from harness.reports.comparison_words import (
    amount,
    change_line,
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
from harness.reports.markdown_spans import code_span, plain_words
from harness.types.comparisons import Comparison, Comparisons, SamplePair
from harness.types.verdicts import MetricVerdict

_SHOWN = 10
_SIGNS = {
    "invalid": "⛔",
    "regressed": "🔴",
    "improved": "🟢",
    "no_worse": "🟢",
    "inconclusive": "🟡",
}


def comparisons_markdown(compared: Comparisons) -> str:
    """Return candidates against their baselines as Markdown; no text in it is taken for markup."""
    if compared.first_night:
        missing = compared.missing or "there is no baseline yet"
        return f"### First night\n\nNothing was compared: {plain_words(missing)}.\n"
    return "\n".join(line for one in compared.comparisons for line in _lines(one)) + "\n"


def _cell(text: str) -> str:
    # A bar ends a cell, even inside code.
    return re.sub(r"(?<!\\)\|", r"\\|", plain_words(text))


def _lines(comparison: Comparison) -> Iterator[str]:
    sign = _SIGNS[comparison.verdict.verdict]
    yield f"### {sign} {code_span(comparison.suite)}: {plain_words(headline(comparison))}"
    yield ""
    yield sides_line(comparison, code_span)
    yield ""
    yield from (f"- {line}" for line in pairing_lines(comparison, code_span))
    said = [*comparison.warnings]
    for metric in comparison.verdict.metrics:
        said += [*power_lines(metric), *metric.warnings] if metric.gating else []
    yield from (f"- {plain_words(line)}" for line in said)
    yield from (f"- **{plain_words(group_sentence(group))}**" for group in comparison.divergences)
    yield ""
    yield from _metrics(comparison.verdict.metrics)
    yield from _samples("Regressed", comparison.regressed)
    yield from _samples("Improved", comparison.improved)
    yield from _samples("Nothing but errors on one side", comparison.errored)
    changes = (change_line(change, code_span) for change in comparison.changes)
    yield from _folded("What else differs", changes)


def _metrics(metrics: Sequence[MetricVerdict]) -> Iterator[str]:
    if not metrics:
        return
    yield "| | baseline | candidate | difference | 90 % interval | adjusted p | verdict |"
    yield "|---|---:|---:|---:|---:|---:|---|"
    for one in metrics:
        cells = (
            one.metric,
            amount(one.baseline.value, one.unit),
            amount(one.candidate.value, one.unit),
            moved_by(one),
            interval(one),
            p_value(one),
            verdict_word(one),
        )
        yield f"| {' | '.join(map(_cell, cells))} |"
    yield ""


def _samples(title: str, pairs: Sequence[SamplePair]) -> Iterator[str]:
    lines: list[str] = []
    for pair in pairs[:_SHOWN]:
        lines.append(pair_line(pair, code_span))
        evidence = evidence_lines(pair, code_span)
        lines.extend(f"  {label.strip()}: {text}" for label, text in evidence)
    if len(pairs) > _SHOWN:
        lines.append(f"{len(pairs) - _SHOWN} more")
    yield from _folded(f"{title}: {len(pairs)}", lines)


def _folded(title: str, lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    if not found:
        return
    yield f"<details><summary>{plain_words(title)}</summary>"
    yield ""
    for line in found:
        indent = "  " if line.startswith("  ") else ""
        yield f"{indent}- {line.strip()}"
    yield ""
    yield "</details>"
    yield ""
