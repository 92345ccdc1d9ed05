"""What a comparison says in words: plain ones first, numbers second; nothing in them does harm.

Where `shown` can be given, it shows every foreign text (ids, evidence, values) on one line, cut to
a width unless that is 0: as it is for a terminal, as code for Markdown.
"""

from collections.abc import Callable, Iterator, Sequence

from harness.system.texts import one_line
from harness.types.comparisons import (
    Change,
    ComparedRun,
    Comparison,
    Divergence,
    DivergenceGroup,
    EventAt,
    Pairing,
    SamplePair,
    TrialEvidence,
)
from harness.types.verdicts import VERDICT_WORDS, MetricVerdict

_LONGEST = 240
_LONGEST_ID = 60
_NAMED = 10
_TINY = 0.0005
_MOST_EPOCHS = 100
"""More of every sample than this nobody runs, so they are no advice."""

Shown = Callable[[str, int], str]
"""Shows a foreign text on one line, cut to a width unless that is 0."""


def headline(comparison: Comparison) -> str:
    """Say the verdict in a sentence."""
    verdict = comparison.verdict
    word = VERDICT_WORDS[verdict.verdict]
    stage = f" ({verdict.stage})" if verdict.stage else ""
    gating = [one for one in verdict.metrics if one.metric in verdict.decided_by]
    within = ", within margin" if any(one.within_margin for one in gating) else ""
    reason = f": {verdict.reason}" if verdict.reason else ""
    about = f": {metric_sentence(gating[0])}" if gating and not reason else reason
    return one_line(f"{word}{stage}{within}{about}", 2 * _LONGEST)


def sides_line(comparison: Comparison, shown: Shown = one_line) -> str:
    """Say which runs are compared."""
    before, after = comparison.baseline, comparison.candidate
    return f"{_run(after, shown)} against {_run(before, shown)}{_age(before)}"


def _run(run: ComparedRun, shown: Shown) -> str:
    return f"{shown(run.model, 0)} of {shown(run.run_id, 0)}"


def _age(run: ComparedRun) -> str:
    if run.age_days is None:
        return ""
    old = "less than a day" if run.age_days < 1 else f"{run.age_days:.0f} days"
    return f" ({old} old{': STALE' if run.stale else ''})"


def metric_sentence(metric: MetricVerdict) -> str:
    """Say how a metric has moved, with its interval and p value."""
    if metric.difference is None:
        return f"{metric.metric}: {metric.reason or 'nothing to compare'}"
    name = "the pass rate" if metric.metric == "trial" else metric.metric
    before, after = (
        amount(side.value, metric.unit) for side in (metric.baseline, metric.candidate)
    )
    moved = f"{name} went from {before} to {after}" if before != after else f"{name} is {after}"
    p = _p(metric)
    return f"{moved} ({difference(metric)}{f', {p}' if p else ''})"


def difference(metric: MetricVerdict) -> str:
    """Say a difference with its 90 % interval, in points or in the metric's unit."""
    ends = interval(metric)
    return moved_by(metric) if ends == "-" else f"{moved_by(metric)}, 90 % interval {ends}"


def moved_by(metric: MetricVerdict) -> str:
    """Return a difference, candidate less baseline, in points or in the metric's unit."""
    found = metric.difference
    return "-" if found is None else _signed(_sign(metric) * found.value, metric.unit)


def interval(metric: MetricVerdict) -> str:
    """Return the ends of the 90 % interval of a difference."""
    found = metric.difference
    if found is None or found.low is None or found.high is None:
        return "-"
    ends = sorted(_sign(metric) * end for end in (found.low, found.high))
    return f"{_bare(ends[0], metric.unit)} to {_bare(ends[1], metric.unit)}"


def _sign(metric: MetricVerdict) -> int:
    # Differences are stored so that more is better; shown is what the numbers themselves did.
    return -1 if metric.lower_is_better else 1


def _p(metric: MetricVerdict) -> str:
    p = metric.p
    if p is None or p.test is None:
        return ""
    improves = metric.verdict == "improved"
    word = "improved" if improves else "regressed"
    value = p.improved if improves else p.regressed
    adjusted = p.adjusted_improved if improves else p.adjusted_regressed
    after = f", {_small(adjusted)} after Holm over {p.adjusted_over} gating metrics"
    return f"p ({word}) {_small(value)}{after if metric.gating and p.adjusted_over > 1 else ''}"


def p_value(metric: MetricVerdict) -> str:
    """Return the p value of a table: adjusted, for the way in which the metric has moved."""
    if metric.p is None or metric.difference is None:
        return "-"
    better = metric.difference.value > 0
    return _small(metric.p.adjusted_improved if better else metric.p.adjusted_regressed)


def _small(p: float) -> str:
    return "<0.001" if p < _TINY else f"{p:.3f}"


def amount(value: float | None, unit: str) -> str:
    """Return a metric's value for reading: rates in percent, other numbers with their unit."""
    if value is None:
        return "-"
    if unit == "points":
        return f"{100 * value:.1f} %"
    return f"{value:,.4g} {unit}"


def _signed(value: float, unit: str) -> str:
    value += 0.0  # no minus before a zero
    return f"{100 * value:+.1f} points" if unit == "points" else f"{value:+,.4g} {unit}"


def _bare(value: float, unit: str) -> str:
    value += 0.0
    return f"{100 * value:+.1f}" if unit == "points" else f"{value:+,.4g}"


def pairing_lines(comparison: Comparison, shown: Shown = one_line) -> Iterator[str]:
    """Say how many samples were paired and moved, and what was left out."""
    pairing = comparison.pairing
    first = next((one for one in comparison.verdict.metrics if one.gating), None)
    total = pairing.paired + len(pairing.changed)
    moved = ""
    if first is not None and first.samples:
        moved = f": {_counts(first)}, {first.unchanged} unchanged"
    yield f"{pairing.paired} of {total} samples in both runs paired{moved}"
    yield from exclusion_lines(comparison)
    yield from _left_out(pairing, shown)
    if comparison.baseline.regraded:
        names = ", ".join(shown(name, 0) for name in comparison.baseline.regraded)
        yield f"the baseline was graded again, without driving, as these graders differ: {names}"


def _counts(metric: MetricVerdict) -> str:
    """Count what moved; samples with nothing but errors on one side are counted apart."""
    errored = f", {metric.errored} with nothing but errors on one side" if metric.errored else ""
    return f"{metric.regressed} regressed, {metric.improved} improved{errored}"


def exclusion_lines(comparison: Comparison) -> Iterator[str]:
    """Say how many trials the suite's `errors: exclude` leaves out of a comparison."""
    before, after = comparison.baseline.errors_left_out, comparison.candidate.errors_left_out
    if before or after:
        counts = f"{before} of the baseline and {after} of the candidate"
        yield f"left out of all numbers, as errors are excluded: {counts} ended in errors"


def _left_out(pairing: Pairing, shown: Shown) -> Iterator[str]:
    groups = {
        "changed since the baseline": pairing.changed,
        "added since the baseline": pairing.added,
        "not run in the baseline": pairing.not_run,
        "no more there": pairing.removed,
        "quarantined": pairing.quarantined,
    }
    for what, ids in groups.items():
        if ids:
            yield f"left out, {what}: {_ids(ids, shown)}"


def _ids(ids: Sequence[str], shown: Shown) -> str:
    named = ", ".join(shown(one, _LONGEST_ID) for one in ids[:_NAMED])
    return f"{named} and {len(ids) - _NAMED} more" if len(ids) > _NAMED else named


def power_lines(metric: MetricVerdict) -> Iterator[str]:
    """Say what an inconclusive comparison could have seen, and what it would take."""
    power = metric.power
    if metric.verdict != "inconclusive" or power is None:
        return
    seen = _bare(power.detectable, metric.unit).lstrip("+")
    unit = "points" if metric.unit == "points" else metric.unit
    if metric.unit == "points" and power.detectable > 1:
        yield f"{metric.metric}: no drop at all can be seen with 80 % chance at this size"
    else:
        yield f"{metric.metric}: the smallest drop seen with 80 % chance is {seen} {unit}"
    if metric.margin is None:
        yield "say with --margin which drop you can live with, and NO WORSE can be said"
        return
    needs = []
    if power.samples_needed is not None:
        needs.append(f"{power.samples_needed:,} samples")
    if power.epochs_needed is not None and power.epochs_needed <= _MOST_EPOCHS:
        needs.append(f"{power.epochs_needed:,} epochs")
    if needs:
        margin = _bare(metric.margin, metric.unit).lstrip("+")
        what = " of which none changes" if power.unchanged else ""
        yield f"a margin of {margin} {unit} needs {' or '.join(needs)}{what}"


def group_sentence(group: DivergenceGroup) -> str:
    """Say how many regressions first differ in one way."""
    where = "" if group.tool is None else f" at the call of `{one_line(group.tool)}`"
    count = f"{len(group.samples)} of {group.of} regressions first differ{where}"
    return f"{count}: {one_line(group.words)}"


def pair_line(pair: SamplePair, shown: Shown = one_line) -> str:
    """Say how a sample has moved."""
    before = f"{pair.baseline_passes}/{pair.baseline_trials}"
    after = f"{pair.candidate_passes}/{pair.candidate_trials}"
    place = f" ({shown(pair.place, 0)})" if pair.place else ""
    return f"{shown(pair.sample_id, _LONGEST_ID)}{place}: {before} passed before, {after} now"


def evidence_lines(pair: SamplePair, shown: Shown = one_line) -> Iterator[tuple[str, str]]:
    """Return labels and texts: the evidence of both runs, and where they part."""
    for label, trial in (("before", pair.baseline_shown), ("now", pair.candidate_shown)):
        if trial is not None:
            yield label, _evidence(trial, shown)
    if pair.divergence is not None:
        yield "parts at", _divergence(pair.divergence, shown)
        for label, event in (("  before", pair.divergence.baseline),
                             ("  now", pair.divergence.candidate)):  # fmt: skip
            if event is not None:
                yield label, _event(event, shown)


def _evidence(trial: TrialEvidence, shown: Shown) -> str:
    word = {True: "passed", False: "failed", None: trial.status.replace("_", " ")}[trial.passed]
    grader = f" {shown(trial.grader, 0)}" if trial.grader else ""
    evidence = f": {shown(trial.evidence, _LONGEST)}" if trial.evidence else ""
    return f"{word}{grader}{evidence}"


def _divergence(found: Divergence, shown: Shown) -> str:
    event = found.candidate or found.baseline
    where = "" if event is None else f"turn {event.turn} event {event.event}: "
    return f"{where}{shown(found.words, 0)}"


def _event(event: EventAt, shown: Shown) -> str:
    words = {"tool_call": "calls", "tool_result": "result of", "assistant_message": "says"}
    name = f" {shown(event.name, 0)}" if event.name else ""
    return f"{words.get(event.type, event.type)}{name} {shown(event.text, _LONGEST)}"


def change_line(change: Change, shown: Shown = one_line) -> str:
    """Say what differs, and its two values where they are known."""
    what = shown(change.what, 0)
    if change.before is None and change.after is None:
        return what
    before = "none" if change.before is None else shown(change.before, _LONGEST)
    after = "none" if change.after is None else shown(change.after, _LONGEST)
    return f"{what}: {before} before, {after} now"
