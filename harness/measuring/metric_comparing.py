"""One metric of two runs: the test and the interval that its question asks for."""

from collections import Counter
from dataclasses import dataclass

from harness.measuring.intervals import mean
from harness.measuring.paired_differences import Moves, Spread, moves_of, spread_of
from harness.measuring.paired_intervals import (
    fixed_suite_interval,
    t_interval,
    tango_interval,
)
from harness.measuring.paired_outcomes import ComparedMetric, Pairs
from harness.measuring.paired_tests import (
    UNMOVED,
    ExactP,
    mcnemar,
    paired_t,
    sign_flip,
    stratified_exact,
)
from harness.measuring.pass_rates import pass_rate
from harness.types.summaries import Interval
from harness.types.verdicts import (
    DifferenceInterval,
    IntervalName,
    Question,
    TestName,
)


@dataclass(frozen=True, slots=True)
class Measured:
    """What the outcomes of one metric say, before p values are adjusted and a verdict is given."""

    metric: ComparedMetric
    pairs: Pairs
    spread: Spread
    moves: Moves
    test: TestName | None
    p: ExactP
    difference: DifferenceInterval


def measure(metric: ComparedMetric, pairs: Pairs, question: Question) -> Measured:
    """Test a metric and give the interval of its difference. At least one pair.

    Passes on a fixed suite: the stratified exact test, with Tango's interval at one epoch and the
    fixed-suite interval at two and more. Passes on a population: McNemar and Tango at one epoch,
    else sign-flip and t. Scores: t.
    """
    spread, moves = spread_of(pairs), moves_of(pairs)
    test, p = _scores(pairs, spread) if metric.kind == "score" else _passes(pairs, moves, question)
    difference = _difference(metric, pairs, (spread, moves), question)
    return Measured(metric, pairs, spread, moves, test, p, difference)


def epochs_of(pairs: Pairs) -> tuple[int, int]:
    """Return the most trials that any sample has, in the baseline and in the candidate."""
    baseline = max(pair.baseline_trials for pair, _ in pairs)
    return baseline, max(pair.candidate_trials for pair, _ in pairs)


def side_numbers(metric: ComparedMetric, pairs: Pairs) -> tuple[Interval, Interval]:
    """Return each run's own number over the pairs, with its 95 % interval, in its own unit."""
    baseline = [(total, trials, count) for (total, trials, _, _), count in pairs]
    candidate = [(total, trials, count) for (_, _, total, trials), count in pairs]
    return _side_number(metric, baseline), _side_number(metric, candidate)


def _passes(pairs: Pairs, moves: Moves, question: Question) -> tuple[TestName, ExactP]:
    if question == "fixed_suite":
        return "stratified_exact", stratified_exact(pairs)
    if _is_single(pairs):
        return "mcnemar", mcnemar(moves.regressed, moves.improved)
    return "sign_flip", sign_flip(pairs)


def _scores(pairs: Pairs, spread: Spread) -> tuple[TestName | None, ExactP]:
    if spread.samples == 1:
        return None, UNMOVED
    p = paired_t(spread)
    return ("sign_flip", sign_flip(pairs)) if p is None else ("t", p)


def _difference(
    metric: ComparedMetric, pairs: Pairs, seen: tuple[Spread, Moves], question: Question
) -> DifferenceInterval:
    spread, moves = seen
    is_pass = metric.kind == "pass"
    method: IntervalName = "t"
    if is_pass and _is_single(pairs):
        method, ends = "tango", tango_interval(moves)
    elif is_pass and question == "fixed_suite" and _is_repeated(pairs):
        method, ends = "fixed_suite", fixed_suite_interval(pairs)
    else:
        bounds = metric.worst_and_best
        reach = bounds[1] - bounds[0] if bounds else float("inf")
        found = t_interval(spread, is_pass=is_pass, reach=reach)
        if found is None:
            return DifferenceInterval(value=spread.mean)
        ends = found
    return DifferenceInterval(value=spread.mean, low=ends[0], high=ends[1], method=method)


def _side_number(metric: ComparedMetric, side: list[tuple[float, int, int]]) -> Interval:
    if metric.kind == "pass":
        tries = Counter[tuple[int, int]]()
        for total, trials, count in side:
            tries[round(metric.signed(total, trials)), trials] += count
        return pass_rate(tries)
    means = [metric.signed(total / trials) for total, trials, count in side for _ in range(count)]
    low = float("-inf") if metric.lowest is None else metric.lowest
    high = float("inf") if metric.highest is None else metric.highest
    found = mean(means, bounds=(low, high))
    return Interval(value=found.mean, low=found.low, high=found.high)


def _is_single(pairs: Pairs) -> bool:
    return epochs_of(pairs) == (1, 1)


def _is_repeated(pairs: Pairs) -> bool:
    return min(min(pair.baseline_trials, pair.candidate_trials) for pair, _ in pairs) > 1
