"""The verdict on a run in one sentence: incomplete, regressed, a gate missed, or passed."""

from collections.abc import Iterable, Iterator, Sequence

from harness.system.shown_numbers import counted, counted_of, plain_number, with_unit
from harness.system.shown_shares import percent, signed_points
from harness.types.comparisons import Comparison
from harness.types.explanations import MissedGate, RunState
from harness.types.summaries import GateResult, Summary
from harness.types.verdicts import SUITE_ORDER, VERDICT_WORDS, MetricVerdict

_POINTS = "points"
_MOST_VERDICTS = 2
_GRAVE = frozenset({"invalid", "regressed"})
_PASSED = "PASSED: "


def did_not_pass(summary: Summary) -> int:
    """Count the trials that did not pass, errors among them."""
    return sum(model.trials - model.ungraded - model.passed for model in summary.models.values())


def all_trials(summary: Summary) -> int:
    """Count the trials that have ended."""
    return sum(model.trials for model in summary.models.values())


def missed_gates(gates: Iterable[GateResult]) -> tuple[MissedGate, ...]:
    """Return the gates that were not met; of a group, those of its gates that were not."""
    return tuple(_missed(gates))


def _missed(gates: Iterable[GateResult]) -> Iterator[MissedGate]:
    for gate in gates:
        if gate.passed is not True and gate.parts:
            yield from _missed(gate.parts)
        elif gate.passed is not True:
            yield MissedGate(text=gate.text, value=gate.value, passed=gate.passed, note=gate.note)


def run_state(summary: Summary, comparisons: Sequence[Comparison] = ()) -> RunState:
    """Say what decides about a run: the gravest of what there is."""
    verdicts = {comparison.verdict.verdict for comparison in comparisons}
    if not summary.complete or "invalid" in verdicts:
        return "incomplete"
    if "regressed" in verdicts:
        return "regressed"
    return "passed" if summary.passed else "gate_missed"


def run_sentence(summary: Summary, comparisons: Sequence[Comparison] = ()) -> str:
    """Say in a sentence how a run ended, and against its baseline where there is one.

    The gravest comes first: that a run is incomplete, then a comparison that is invalid or
    regressed, then the gates.
    """
    gravest = sorted(comparisons, key=lambda one: SUITE_ORDER.index(one.verdict.verdict))
    shown = gravest[:_MOST_VERDICTS]
    if summary.complete and shown and shown[0].verdict.verdict in _GRAVE:
        said = [
            _headed(shown[0]),
            *map(_against, shown[1:]),
            _ending(summary).removeprefix(_PASSED),
        ]
    else:
        said = [_ending(summary), *map(_against, shown)]
    more = len(gravest) - _MOST_VERDICTS
    further = [counted(more, "further comparison")] if more > 0 else []
    return "; ".join([*said, *further]) + "."


def _ending(summary: Summary) -> str:
    trials, failing = all_trials(summary), did_not_pass(summary)
    planned = summary.planned
    ended = counted(trials, "trial")
    how = f"{failing:,} of {ended} did not pass" if failing else f"none of {ended} failed"
    how = how if trials else f"no trial{f' of {planned:,}' if planned else ''} ended"
    if not summary.complete:
        if trials and summary.reasons and planned is not None and trials < planned:
            how = f"{_so_far(trials, planned)} ended, {failing or 'none'} of them did not pass"
        more = len(summary.reasons) - 1
        further = f" (and {counted(more, 'further reason')})" if more > 0 else ""
        whys = [*summary.reasons[:1]] or [f"{_so_far(trials, planned)} ended"] * (trials > 0)
        said = "; ".join([*(f"{why}{further}" for why in whys), how])
        return f"INCOMPLETE, and cannot be judged: {said}"
    if not summary.passed:
        missed = sum(gate.passed is False for gate in summary.gates)
        return f"FAILED: {counted_of(missed, len(summary.gates), 'gate')} missed; {how}"
    judged = all(gate.passed is not None for gate in summary.gates)
    every = "every gate is met" if judged else "every gate that could be judged is met"
    gates_met = every if summary.gates else "the run is complete, and has no gates"
    return f"{_PASSED}{gates_met}; {how}"


def _so_far(trials: int, planned: int | None) -> str:
    if planned in {None, trials}:
        return counted(trials, "trial")
    return counted_of(trials, planned or 0, "planned trial")


def _headed(comparison: Comparison) -> str:
    word = VERDICT_WORDS[comparison.verdict.verdict]
    return f"{word}: {_moved(comparison, comparison.candidate.model)}"


def _against(comparison: Comparison) -> str:
    word = VERDICT_WORDS[comparison.verdict.verdict]
    return _moved(comparison, f"{comparison.candidate.model} {word}")


def _moved(comparison: Comparison, subject: str) -> str:
    verdict = comparison.verdict
    words = f"{subject} against {comparison.baseline.run_id}"
    deciding = [one for one in verdict.metrics if one.metric in verdict.decided_by]
    if not deciding:
        return f"{words}: {verdict.reason}" if verdict.reason else words
    return f"{words}: {', '.join(map(_metric, deciding[:2]))}"


def _metric(metric: MetricVerdict) -> str:
    one, other = metric.baseline.value, metric.candidate.value
    if one is None or other is None:
        return f"{metric.metric}: {metric.reason}" if metric.reason else metric.metric
    if metric.unit != _POINTS:
        after = with_unit(plain_number(other), metric.unit)
        moved = with_unit(plain_number(other - one, sign="+"), metric.unit)
        return f"{metric.metric} {plain_number(one)} to {after} ({moved})"
    difference = metric.difference.value if metric.difference else other - one
    return (
        f"{metric.metric} {percent(one)} to {percent(other)} ({signed_points(difference)} points)"
    )
