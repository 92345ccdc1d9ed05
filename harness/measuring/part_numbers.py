"""The numbers of some trials of one model, as a summary holds them."""

import math
from array import array
from collections import Counter
from collections.abc import Mapping

from harness.measuring.intervals import mean, quantile
from harness.measuring.pass_at_k import pass_at_k_over
from harness.measuring.pass_rates import pass_rate, worth
from harness.measuring.tally_parts import GraderPart, Part
from harness.types.summaries import (
    AMOUNTS,
    Amount,
    GraderSummary,
    ModelSummary,
    PassAtK,
    Seconds,
    SliceSummary,
)
from harness.types.trajectories import Usage

_SMALL_K = 10
_Shown = Mapping[str, str | None]
_Try = tuple[int, int]
"""How many trials of a sample passed, and how many there are."""


def model_numbers(part: Part, shown: _Shown) -> ModelSummary:
    """Sum up all trials of a model; `shown` are the graders' names in tables."""
    numbers, tally = slice_numbers(part, shown), part.tally
    judged, seconds = tally.judge_usage.total, numbers.per_trial["seconds"]
    return ModelSummary(
        trials=numbers.trials,
        completed=part.ended("completed"),
        agent_failures=part.ended("agent_failure"),
        errors=numbers.errors,
        ungraded=numbers.ungraded,
        passed=numbers.passed,
        pass_rate=numbers.pass_rate,
        pass_rate_if_errors_failed=numbers.pass_rate_if_errors_failed,
        pass_rate_if_errors_passed=numbers.pass_rate_if_errors_passed,
        score=numbers.score,
        graders=numbers.graders,
        usage=tally.usage.total,
        seconds=Seconds(p50=seconds.p50, p90=seconds.p90),
        judge_usage=None if judged == Usage() else judged,
        samples=numbers.samples,
        effective_trials=numbers.effective_trials,
        pass_at=numbers.pass_at,
        per_trial=numbers.per_trial,
        slices={
            name: {value: slice_numbers(of, shown) for value, of in values.items()}
            for name, values in part.slices()
        },
    )


def slice_numbers(part: Part, shown: _Shown) -> SliceSummary:
    """Sum up some trials of a model; where none was judged there is no rate, only errors."""
    is_known = part.trials > part.errors + part.ungraded
    tries = part.passes.passes() if is_known else Counter[_Try]()
    rate = pass_rate(tries)
    if_failed, if_passed = _bounds(part)
    return SliceSummary(
        samples=tries.total(),
        trials=part.trials,
        errors=part.errors,
        ungraded=part.ungraded,
        passed=part.passed,
        pass_rate=rate,
        effective_trials=worth(rate),
        pass_rate_if_errors_failed=if_failed,
        pass_rate_if_errors_passed=if_passed,
        score=mean(part.scores.means() if is_known else ()),
        graders={
            name: _grader_numbers(of, part, shown.get(name))
            for name, of in part.graders.items()
            if part.rows is None or len(of.scores) or of.skipped
        },
        pass_at=_pass_at(tries, part.tally.epochs),
        per_trial={name: _amount(part, name) for name in AMOUNTS},
    )


def _bounds(part: Part) -> tuple[float | None, float | None]:
    """Return the rates had all errors failed, and had all passed; None without errors."""
    trials = part.trials - part.ungraded
    if not part.errors or not trials:
        return None, None
    return part.passed / trials, (part.passed + part.errors) / trials


def _grader_numbers(of: GraderPart, part: Part, display_name: str | None) -> GraderSummary:
    """Sum up a grader; where it judged nothing, because it broke each time, there is no rate."""
    by_agent = of.failed_by_agent(part.failed_by_agent)
    is_known = of.graded + by_agent > 0
    means, passed = of.scores.means() if is_known else array("d"), of.passed
    tries = of.passes.passes() if is_known else Counter[_Try]()
    errors, score = of.errors - by_agent, mean(means)
    counted = of.graded + of.errors
    return GraderSummary(
        mean=score.mean,
        low=score.low,
        high=score.high,
        pass_rate=pass_rate(tries),
        passed=passed,
        failed=of.graded - passed,
        graded=of.graded,
        errors=of.errors,
        skipped=of.skipped,
        display_name=display_name,
        samples=len(means),
        pass_at=_pass_at(tries, part.tally.epochs),
        pass_rate_if_errors_failed=passed / counted if errors else None,
        pass_rate_if_errors_passed=(passed + errors) / counted if errors else None,
    )


def _pass_at(tries: Counter[_Try], epochs: int) -> tuple[PassAtK, ...]:
    """Return pass@k and pass^k for k of 2 to 10, and for all epochs."""
    if epochs == 1 or not tries:
        return ()
    ks = dict.fromkeys([*range(2, min(epochs, _SMALL_K) + 1), epochs])
    return tuple(pass_at_k_over(tries.elements(), k) for k in ks)


def _amount(part: Part, name: str) -> Amount:
    values, every = part.amount(name), part.total(name).each()
    means, each = values.means(), values.each()
    found = mean(means, bounds=(0.0, math.inf))
    return Amount(
        mean=found.mean,
        low=found.low,
        high=found.high,
        p50=quantile(each, 0.5),
        p90=quantile(each, 0.9),
        total=math.fsum(every) if every else None,
        trials=len(values),
        samples=len(means),
        unknown=part.driven - len(values),
    )
