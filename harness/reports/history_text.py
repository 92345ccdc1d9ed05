"""A history as text for a terminal."""

from collections.abc import Iterator, Sequence
from datetime import date

from harness.reports.comparison_words import metric_sentence, power_lines
from harness.reports.sparklines import sparkline
from harness.system.shown_numbers import counted
from harness.system.shown_shares import percent, rounded_percent
from harness.system.texts import one_line
from harness.types.nights import (
    ExpectedFlips,
    History,
    LeftOut,
    ModelNights,
    Night,
    NightOfChange,
    QuarantineState,
    SampleChange,
    SampleNow,
)
from harness.types.sample_states import SampleState
from harness.types.verdicts import VERDICT_WORDS, MetricVerdict, SuiteVerdict, Verdict

STALE_DAYS = 14
"""A baseline is called stale when it is older."""

_NIGHTS_SHOWN = 7
_BARS_SHOWN = 90
_SAMPLES_SHOWN = 10
_LONGEST_ID = 60
_RUNS_NAMED = 3
_FEW = 0.1
_POSSIBLE = 1e-9


def history_text(history: History, today: date) -> str:
    """Return a history as lines; nothing in names or ids does harm."""
    lines = [line for model in history.models for line in _model(model, today)]
    for state in history.quarantines:
        lines += _quarantine(state)
    lines += _left_out(history.left_out)
    return "".join(f"{line}\n" for line in lines)


def _left_out(runs: Sequence[LeftOut]) -> Iterator[str]:
    """Name the runs that are no nights; many with one reason are counted."""
    for reason in dict.fromkeys(one.reason for one in runs):
        names = [one_line(one.run) for one in runs if one.reason == reason]
        more = "" if len(names) <= _RUNS_NAMED else f" and {len(names) - _RUNS_NAMED} more"
        many = f"{counted(len(names), 'run')}: " if more else ""
        yield f"left out: {many}{', '.join(names[:_RUNS_NAMED])}{more}: {one_line(reason)}"


def _model(model: ModelNights, today: date) -> Iterator[str]:
    first, last = model.nights[0], model.nights[-1]
    count = len(model.nights)
    days = f"{first.started_at:%Y-%m-%d} to {last.started_at:%Y-%m-%d}"
    nights = counted(count, "night")
    yield f"{one_line(model.suite)} on {one_line(model.model)}: {nights}, {days}"
    yield f"  {sparkline([night.rate.value for night in model.nights[-_BARS_SHOWN:]])}"
    if count > _NIGHTS_SHOWN:
        yield f"  the last {_NIGHTS_SHOWN}:"
    several = model.verdict is not None and len(_gating(model.verdict)) > 1
    for night in model.nights[-_NIGHTS_SHOWN:]:
        yield f"  {_night(night, several=several)}"
    yield from _verdict(model)
    yield from _samples(model, today)
    if model.flips is not None:
        yield f"  {_flips(model.flips)}"
    for warning in model.warnings:
        yield f"  warning: {one_line(warning)}"
    yield ""


def _gating(verdict: SuiteVerdict) -> list[MetricVerdict]:
    return [one for one in verdict.metrics if one.gating]


def _night(night: Night, *, several: bool) -> str:
    rate = "no rate" if night.rate.value is None else percent(night.rate.value)
    ends = ""
    if night.rate.low is not None and night.rate.high is not None:
        low = percent(night.rate.low).removesuffix(" %")
        ends = f", 95 % interval {low} to {percent(night.rate.high)}"
    marks = [
        *([counted(night.errors, "error")] if night.errors else []),
        *([] if night.complete else ["incomplete"]),
        *(["the baseline"] if night.is_baseline else []),
        *(
            [_verdict_word(night.verdict, night.decided_by, several=several)]
            if night.verdict
            else []
        ),
        *_own_verdict(night),
        *([f"changed: {', '.join(map(one_line, night.changes))}"] if night.changes else []),
    ]
    said = f"  [{'; '.join(marks)}]" if marks else ""
    passed = f"{night.passed:,} of {night.trials:,}"
    return f"{night.number:>4}  {night.started_at:%Y-%m-%d %H:%M}  {rate:>7} ({passed}{ends}){said}"


def _own_verdict(night: Night) -> Iterator[str]:
    if night.own_verdict is not None:
        yield f"{VERDICT_WORDS[night.own_verdict]} against its own baseline"


def _verdict(model: ModelNights) -> Iterator[str]:
    if model.baseline is None:
        yield "  no baseline is pinned: `regrade baseline set RUN` pins one"
        return
    days = model.baseline_days or 0.0
    age = "less than a day" if days < 1 else counted(int(days), "day")
    old = f"{age} old{': STALE' if days > STALE_DAYS else ''}"
    against = f"against the baseline {one_line(model.baseline)} ({old})"
    if model.verdict is None:
        yield f"  {against}: no later night"
        return
    gating = _gating(model.verdict)
    several = len(gating) > 1
    stage = f" ({model.verdict.stage})" if model.verdict.stage else ""
    word = _verdict_word(
        model.verdict.verdict, model.verdict.decided_by, several=several, stage=stage
    )
    about = "" if several else model.verdict.reason or "; ".join(map(metric_sentence, gating))
    yield one_line(f"  {word} {against}:{f' {about}' if about else ''}")
    for metric in gating:
        if several:
            yield f"    {one_line(f'{metric.metric}: {_about(metric)}')}"
        for line in power_lines(metric):
            yield f"    {'  ' * several}{one_line(line)}"
    if model.verdict.stage == "suspected":
        yield "    one night in 20 alarms with nothing changed: run both versions afresh to confirm"


def _verdict_word(
    verdict: Verdict, metrics: Sequence[str], *, several: bool, stage: str = ""
) -> str:
    """Return a verdict, and which metrics have it where that is not plain: of several, or another.

    What is no alarm needs no name.
    """
    is_alarm = verdict in {"regressed", "invalid"}
    is_plain = not metrics or (not several and set(metrics) <= {"trial"})
    named = "" if is_plain or not is_alarm else f" by {', '.join(map(one_line, metrics))}"
    return f"{VERDICT_WORDS[verdict]}{stage}{named}"


def _about(metric: MetricVerdict) -> str:
    """Say of one metric among several how it has moved, or why that is not known."""
    hangs_on_errors = metric.missing is not None and metric.missing.decided and metric.reason
    said = f"{metric_sentence(metric)}{f'; {metric.reason}' if hangs_on_errors else ''}"
    is_told = metric.difference is None
    told = (metric.reason or "nothing to compare") if is_told else said
    return f"{VERDICT_WORDS[metric.verdict]}: {told}"


def _samples(model: ModelNights, today: date) -> Iterator[str]:
    for turn in model.turns:
        yield f"  {_turn(turn)}"
    if model.whole is not None:
        word = "less" if model.whole.fell else "more"
        yield f"  the samples together pass {word} often since {_when(model.whole)}"
    changes = {(one.sample_id, turn.night): one for turn in model.turns for one in turn.samples}
    for state, words in _STATES.items():
        found = [one for one in model.samples if one.standing.state == state]
        if found:
            yield f"  {words}: {counted(len(found), 'sample')}"
            said = (
                _sample(
                    one,
                    one.turned or changes.get((one.standing.sample_id, one.since or 0)),
                    today,
                )
                for one in found
            )
            yield from _cut(list(said))
    if new := [one.standing.sample_id for one in model.samples if one.standing.state == "new"]:
        few = "fewer than 5 earlier trials"
        yield f"  new ({few}): {counted(len(new), 'sample')}: {_named(new)}"
    steady = sum(model.counts.get(state, 0) for state in ("stable_pass", "stable_fail"))
    failing = model.counts.get("stable_fail", 0)
    if steady == 1:
        yield f"  steady: 1 sample, {'' if failing else 'not '}failing"
    elif steady:
        yield f"  steady: {counted(steady, 'sample')}, {failing or 'none'} of them failing"


_STATES: dict[SampleState, str] = {
    "regressed": "regressed",
    "fixed": "fixed",
    "unsettled": "unsettled (turned once, with too few trials since to tell)",
    "flaky": "flaky",
}


def _turn(turn: NightOfChange) -> str:
    word = "worse" if turn.fell else "better"
    named = _named([one.sample_id for one in turn.samples])
    return f"{word} since {_when(turn)}: {counted(len(turn.samples), 'sample')}: {named}"


def _named(ids: Sequence[str]) -> str:
    more = len(ids) - _SAMPLES_SHOWN
    named = ", ".join(map(_id, ids[:_SAMPLES_SHOWN]))
    return f"{named} and {more} more" if more > 0 else named


def _when(turn: NightOfChange) -> str:
    also = f"; changed: {', '.join(map(one_line, turn.changes))}" if turn.changes else ""
    return f"night {turn.night} ({turn.started_at:%Y-%m-%d}, {one_line(turn.run_id)}{also})"


def _sample(one: SampleNow, change: SampleChange | None, today: date) -> str:
    return f"    {_id(one.standing.sample_id)} ({', '.join(_facts(one, change, today))})"


def _facts(one: SampleNow, change: SampleChange | None, today: date) -> Iterator[str]:
    now = one.standing
    if change is not None:
        before, after = (f"{of[0]:,} of {of[1]:,}" for of in (change.before, change.after))
        yield f"{before} passed before night {one.since}, {after} since"
    elif now.state == "flaky" and now.disagreement is not None:
        passes, trials = now.passes + now.passes_tonight, now.trials + now.trials_tonight
        yield f"{passes:,} of {trials:,} passed"
        yield f"two runs disagree {rounded_percent(now.disagreement)}"
    elif one.since is not None:
        yield f"since night {one.since}"
    if now.state not in {"flaky", "unsettled"}:
        yield f"tonight {now.passes_tonight} of {now.trials_tonight}"
    if one.quarantined_until is not None:
        left = (one.quarantined_until - today).days
        yield f"quarantined, ends in {counted(left, 'night')}"


def _flips(flips: ExpectedFlips) -> str:
    less = flips.fell or "none"
    said = f"{less} of {counted(flips.samples, 'sample')} did worse than the night before"
    few = 0 < flips.expected < _FEW
    expected = f"less than {_FEW}" if few else f"{flips.expected:.1f}"
    said += f"; with nothing changed it is {expected} on average"
    # That none or more do worse is certain, and so no news.
    if flips.fell:
        more = f"{flips.fell} or more" if flips.fell < flips.samples else f"{flips.fell}"
        # What has happened was not impossible, even to samples that had always passed.
        said += f", and {more} with a chance of {percent(max(flips.chance, _POSSIBLE))}"
    return said


def _quarantine(state: QuarantineState) -> Iterator[str]:
    named = ", ".join(map(_id, state.in_force)) or "none"
    of = f"{len(state.in_force)} quarantined (limit {state.limit})"
    yield f"{one_line(state.suite)}: {of}: {named} [{one_line(state.file)}]"
    for text in state.ended:
        yield f"  no longer quarantined: {one_line(text)}"


def _cut(lines: Sequence[str]) -> Iterator[str]:
    yield from lines[:_SAMPLES_SHOWN]
    if len(lines) > _SAMPLES_SHOWN:
        yield f"    and {len(lines) - _SAMPLES_SHOWN} more (--json has them all)"


def _id(name: str) -> str:
    return one_line(name, _LONGEST_ID)
