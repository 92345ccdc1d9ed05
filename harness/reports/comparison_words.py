"""What a comparison says in words: plain ones first, numbers second; nothing in them does harm.

Where `shown` can be given, it shows every foreign text (ids, evidence, values) on one line, cut to
a width unless that is 0: as it is for a terminal, as code for Markdown.
"""

from collections.abc import Callable, Iterator, Sequence

from harness.system.shown_numbers import counted, counted_of, plain_number, with_unit
from harness.system.shown_shares import percent, probability, signed_points
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
    age = age_words(before)
    return f"{_run(after, shown)} against {_run(before, shown)}{f' ({age})' if age else ''}"


def _run(run: ComparedRun, shown: Shown) -> str:
    return f"{shown(run.model, 0)} of {shown(run.run_id, 0)}"


def age_words(run: ComparedRun) -> str:
    """Say how old a baseline is, and whether it is stale; empty where it is not known."""
    if run.age_days is None:
        return ""
    old = "less than a day" if run.age_days < 1 else counted(int(run.age_days), "day")
    return f"{old} old{': STALE' if run.stale else ''}"


def metric_sentence(metric: MetricVerdict) -> str:
    """Say how a metric has moved, with its interval and p value."""
    if metric.difference is None:
        return f"{metric.metric}: {metric.reason or 'nothing to compare'}"
    name = "the pass rate" if metric.metric == "trial" else metric.metric
    before, after = (
        amount(side.value, metric.unit) for side in (metric.baseline, metric.candidate)
    )
    moved = f"{name} went from {before} to {after}"
    if before == after:
        is_same = metric.baseline.value == metric.candidate.value
        moved = f"{name} {'stayed at' if is_same else 'hardly moved from'} {after}"
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
    low, high = sorted(_sign(metric) * end for end in (found.low, found.high))
    return f"{_bare(low, metric.unit)} to {_bare(high, metric.unit)}"


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
    after = f", {probability(adjusted)} after Holm over {p.adjusted_over} gating metrics"
    more = after if metric.gating and p.adjusted_over > 1 else ""
    return f"p ({word}) {probability(value)}{more}"


def p_value(metric: MetricVerdict) -> str:
    """Return the p value of a table: adjusted, for the way in which the metric has moved.

    Over the metrics that decide by Holm, over those in brackets by Benjamini-Hochberg.
    """
    if metric.p is None or metric.difference is None:
        return "-"
    better = metric.difference.value > 0
    return probability(metric.p.adjusted_improved if better else metric.p.adjusted_regressed)


def verdict_word(metric: MetricVerdict) -> str:
    """Return the verdict of a table: in brackets where it decides nothing, if it was tested."""
    if metric.p is None and metric.difference is not None:
        return "(not tested)"
    word = VERDICT_WORDS[metric.verdict]
    return word if metric.gating else f"({word})"


def amount(value: float | None, unit: str) -> str:
    """Return a metric's value for reading: rates in percent, other numbers with their unit."""
    if value is None:
        return "-"
    return percent(value) if unit == "points" else with_unit(plain_number(value), unit)


def _signed(value: float, unit: str) -> str:
    return with_unit(_bare(value, unit), unit)


def _bare(value: float, unit: str) -> str:
    return signed_points(value) if unit == "points" else plain_number(value, 3, sign="+")


def pairing_lines(comparison: Comparison, shown: Shown = one_line) -> Iterator[str]:
    """Say how many samples were paired and moved, and what was left out."""
    pairing = comparison.pairing
    first = next((one for one in comparison.verdict.metrics if one.gating), None)
    total = pairing.paired + len(pairing.changed) + len(pairing.unalike)
    moved = ""
    if first is not None and first.samples:
        moved = f": {_counts(first)}, {first.unchanged:,} unchanged"
    yield f"{counted_of(pairing.paired, total, 'sample')} in both runs paired{moved}"
    yield from exclusion_lines(comparison)
    yield from _left_out(pairing, shown)
    if comparison.baseline.regraded:
        names = ", ".join(shown(name, 0) for name in comparison.baseline.regraded)
        yield f"the baseline was graded again, without driving, as these graders differ: {names}"


def _counts(metric: MetricVerdict) -> str:
    """Count what moved; samples with nothing but errors on one side are counted apart."""
    errored = f", {metric.errored:,} with nothing but errors on one side" if metric.errored else ""
    return f"{metric.regressed:,} regressed, {metric.improved:,} improved{errored}"


def exclusion_lines(comparison: Comparison) -> Iterator[str]:
    """Say how many trials the suite's `errors: exclude` leaves out of a comparison."""
    before, after = comparison.baseline.errors_left_out, comparison.candidate.errors_left_out
    if before or after:
        counts = f"{counted(before, 'trial')} of the baseline and {after} of the candidate"
        yield f"left out of all numbers, as errors are excluded: {counts} ended in errors"


def _left_out(pairing: Pairing, shown: Shown) -> Iterator[str]:
    groups = {
        "changed since the baseline": pairing.changed,
        "added since the baseline": pairing.added,
        "not run in the baseline": pairing.not_run,
        "no more there": pairing.removed,
        "not run in the candidate": pairing.not_taken,
        "judged by other graders": pairing.unalike,
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
    change = "rise" if metric.lower_is_better else "drop"
    if power.detectable is None or (metric.unit == "points" and power.detectable > 1):
        yield f"{metric.metric}: no {change} at all can be seen with 80 % chance at this size"
    else:
        seen = _signed(power.detectable, metric.unit).lstrip("+")
        yield f"{metric.metric}: the smallest {change} seen with 80 % chance is {seen}"
    if metric.margin is None:
        # A margin without a name is a fraction, and holds for no cost.
        named = f" {metric.metric}=NUMBER" if metric.lower_is_better else ""
        yield f"say with --margin{named} which {change} you can live with, and NO WORSE can be said"
        return
    needs = []
    if power.samples_needed is not None:
        needs.append(counted(power.samples_needed, "sample"))
    if power.epochs_needed is not None and power.epochs_needed <= _MOST_EPOCHS:
        both = "" if metric.baseline_epochs == metric.candidate_epochs else " in both runs"
        needs.append(f"{counted(power.epochs_needed, 'epoch')}{both}")
    if needs:
        margin = _signed(metric.margin, metric.unit).lstrip("+")
        what = " of which none changes" if power.unchanged else ""
        yield f"a margin of {margin} needs {' or '.join(needs)}{what}"


def group_sentence(group: DivergenceGroup) -> str:
    """Say how many regressions first differ in one way."""
    where = "" if group.tool is None else f" at the call of `{one_line(group.tool)}`"
    return f"{first_differing(group, 'regression')}{where}: {one_line(group.words)}"


def first_differing(group: DivergenceGroup, noun: str) -> str:
    """Say how many samples of a group of divergences first differ alike."""
    count = len(group.samples)
    return f"{counted_of(count, group.of, noun)} first differ{'s' * (count == 1)}"


def pair_line(pair: SamplePair, shown: Shown = one_line) -> str:
    """Say how a sample has moved."""
    place = f" ({shown(pair.place, 0)})" if pair.place else ""
    return f"{shown(pair.sample_id, _LONGEST_ID)}{place}: {_moved_words(pair, shown)}"


def _moved_words(pair: SamplePair, shown: Shown) -> str:
    before = f"{pair.baseline_passes}/{pair.baseline_trials} passed"
    after = f"{pair.candidate_passes}/{pair.candidate_trials}"
    if pair.baseline_value is not None and pair.candidate_value is not None:
        before = f"{shown(pair.metric, 0)} {amount(pair.baseline_value, pair.unit)}"
        after = amount(pair.candidate_value, pair.unit)
    return f"{before} before, {after} now"


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
    word = words.get(event.type, event.type.replace("_", " "))
    return f"{word}{name} {shown(event.text, _LONGEST)}"


def change_line(change: Change, shown: Shown = one_line) -> str:
    """Say what differs, and its two values where they are known."""
    what = shown(change.what, 0)
    if change.before is None and change.after is None:
        return what
    before = "none" if change.before is None else shown(change.before, _LONGEST)
    after = "none" if change.after is None else shown(change.after, _LONGEST)
    return f"{what}: {before} before, {after} now"
