"""A summary: the numbers of a run, and whether its gates are met."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from harness.types.trajectories import Usage


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """An estimate with its 95 % interval; None where there is nothing to estimate from."""

    value: float | None
    low: float | None = None
    high: float | None = None


class Mean(msgspec.Struct, frozen=True, kw_only=True):
    """A mean with its 95 % interval; the ends are None for fewer than two samples."""

    mean: float | None
    low: float | None = None
    high: float | None = None


class PassAtK(msgspec.Struct, frozen=True, kw_only=True):
    """pass@k and pass^k over samples, with 95 % intervals.

    `at_least_one` is the chance that one of k tries passes, `all_of_them` that all do. `samples`
    have at least k trials; `left_out` have fewer, and are in neither number.
    """

    k: int
    at_least_one: Mean
    all_of_them: Mean
    samples: int
    left_out: int


AMOUNTS: Mapping[str, str] = {
    "seconds": "s",
    "cost_usd": "USD",
    "tokens": "tokens",
    "steps": "steps",
    "tool_calls": "calls",
}
"""What a trial takes, with its unit; little is good."""


class Amount(msgspec.Struct, frozen=True, kw_only=True):
    """What trials took of one thing (a key of `AMOUNTS`).

    `mean` is that per trial, the epochs of a sample averaged first, with 95 % interval; `p50` and
    `p90` are quantiles over trials. They are of the `trials` (of so many `samples`) that were
    driven to their end and of which it is known; `unknown` counts those of which it is not.
    `total` sums what is known of all trials, errored ones included.
    """

    mean: float | None
    low: float | None
    high: float | None
    p50: float | None
    p90: float | None
    total: float | None
    trials: int
    samples: int
    unknown: int


class GraderSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One grader on one model: counts, mean score and pass rate over all but skipped trials.

    Where it judged nothing, because all trials are `errors` to it, there is neither mean nor rate.
    `display_name` is what the suite calls it in tables, where that is not its name. `samples` are
    those in the mean; `pass_at` is told where samples have several epochs. The last two are the
    rates had all errors failed or passed, as for a model.
    """

    mean: float | None
    low: float | None
    high: float | None
    pass_rate: Interval
    passed: int
    failed: int
    graded: int
    errors: int
    skipped: int
    display_name: str | None = None
    samples: int = 0
    pass_at: tuple[PassAtK, ...] = ()
    pass_rate_if_errors_failed: float | None = None
    pass_rate_if_errors_passed: float | None = None


class Seconds(msgspec.Struct, frozen=True, kw_only=True):
    """How long the target took: median and 90th percentile, in seconds."""

    p50: float | None
    p90: float | None


class SliceSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The samples of one model that share a tag, or a value of their metadata.

    The fields mean what those of `ModelSummary` do.
    """

    samples: int
    trials: int
    errors: int
    ungraded: int
    passed: int
    pass_rate: Interval
    effective_trials: float | None
    pass_rate_if_errors_failed: float | None
    pass_rate_if_errors_passed: float | None
    score: Mean
    graders: dict[str, GraderSummary]
    pass_at: tuple[PassAtK, ...] = ()
    per_trial: dict[str, Amount] = {}


class ModelSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One model.

    `errors` are trials that could not be driven or graded; they count as failures in the rates,
    unless the suite leaves them out. `pass_rate_if_errors_failed` and `pass_rate_if_errors_passed`
    are the rates had all of them failed or passed (None without errors). Where no trial was judged,
    for all are errors or `ungraded`, there is no rate.
    `ungraded` are trials to which no grader applied; they are in no rate. `usage` is the agent's,
    `judge_usage` that of the language models that graded it, None where none was asked.
    `samples` are those in the pass rate, and `effective_trials` how many independent trials would
    say as much (None without an interval). `pass_at` is told where samples have several epochs;
    `per_trial` by the keys of `AMOUNTS`; `slices` by name and value.
    """

    trials: int
    completed: int
    agent_failures: int
    errors: int
    ungraded: int
    passed: int
    pass_rate: Interval
    pass_rate_if_errors_passed: float | None
    score: Mean
    graders: dict[str, GraderSummary]
    usage: Usage
    seconds: Seconds
    judge_usage: Usage | None = None
    pass_rate_if_errors_failed: float | None = None
    samples: int = 0
    effective_trials: float | None = None
    pass_at: tuple[PassAtK, ...] = ()
    per_trial: dict[str, Amount] = {}
    slices: dict[str, dict[str, SliceSummary]] = {}


class GateResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One gate on one model: what it says, what the run has, whether that is enough.

    `model` is None for a gate on all models together. `passed` is None where the run holds nothing
    that the gate is about: no trial of the model, no sample of the slice, too few epochs.
    `numbers` are what a weighted mean is made of, by metric; `parts` the gates of a group, which
    has no value of its own. `note` says why there is no value.
    """

    text: str
    model: str | None
    value: float | None
    passed: bool | None
    numbers: dict[str, float | None] = {}
    parts: "tuple[GateResult, ...]" = ()
    note: str | None = None


class FailedTrial(msgspec.Struct, frozen=True, kw_only=True):
    """A trial that did not pass, as shown to the user: the grader or error, and its evidence.

    `pointed` are the very characters that the evidence points at, `wanted` is the ground truth of
    a grader that compares, `said` what the agent said; each None where there is none.
    """

    sample_id: str
    model: str
    epoch: int
    status: str
    grader: str | None
    evidence: str
    pointed: str | None = None
    wanted: str | None = None
    said: str | None = None


class BrokenGrader(msgspec.Struct, frozen=True, kw_only=True):
    """A grader that broke, on so many trials; `evidence` says how first, and where in its code.

    `decides` says that trials have no verdict for it; an observing one leaves them theirs.
    """

    grader: str
    trials: int
    evidence: str
    decides: bool


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of a run, as `summary.json` holds them.

    `complete` says that the run can be judged: everything planned has ended, and errors stayed
    within bounds; `reasons` says what is missing otherwise. `passed` says that it is complete and
    meets its gates. `errors` says how trials count that could not be driven or graded: as failures
    (`fail`), or left out of the rates (`exclude`). `first_failures` are the first failing trials,
    `broken_graders` those that broke, and `warnings` what the reader should know.
    """

    v: int = 1
    suite: str
    run_id: str
    complete: bool
    passed: bool
    planned: int | None
    models: dict[str, ModelSummary]
    gates: tuple[GateResult, ...]
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    first_failures: tuple[FailedTrial, ...] = ()
    broken_graders: tuple[BrokenGrader, ...] = ()
    errors: Literal["fail", "exclude"] = "fail"
