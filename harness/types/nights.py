"""The nights of a suite: its runs in the order of their time, and what they say together.

A `History` is what `regrade history --json` writes.
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Literal

import msgspec

from harness.types.sample_states import SampleStanding
from harness.types.summaries import Interval
from harness.types.verdicts import SuiteVerdict, Verdict


class Night(msgspec.Struct, frozen=True, kw_only=True):
    """One run on one model.

    `number` counts from 1, `samples` are those with a trial, `rate` is the pass rate over all of
    them. `complete` says that the run can be judged. `verdict` is that against the pinned baseline,
    the gravest of the metrics that decide in the suite, `decided_by` are those that have it: None
    for the baseline itself, for runs before it, and without one, and for all but the last thirty
    where other metrics than the trial's pass decide. `own_verdict` is the one that the run got as
    it ended, against its own baseline; None where a baseline is pinned or named. `changes` say in
    words what is not as on the night before: target, graders, samples, epochs.
    """

    number: int
    run_id: str
    started_at: datetime
    samples: int
    trials: int
    passed: int
    errors: int
    complete: bool
    rate: Interval
    is_baseline: bool = False
    verdict: Verdict | None = None
    decided_by: tuple[str, ...] = ()
    own_verdict: Verdict | None = None
    changes: tuple[str, ...] = ()


class SampleChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of one sample's pass rate, and the nights around it, up to its next change.

    `before` and `after` are (passes, trials). `bayes_factor` is how many times likelier the nights
    are with the change than without; None where tonight's trials alone show it.
    """

    sample_id: str
    before: tuple[int, int]
    after: tuple[int, int]
    bayes_factor: float | None = None


class NightOfChange(msgspec.Struct, frozen=True, kw_only=True):
    """Samples that changed on one night in one direction; what else changed on that night."""

    night: int
    run_id: str
    started_at: datetime
    fell: bool
    samples: tuple[SampleChange, ...]
    changes: tuple[str, ...] = ()


class SampleNow(msgspec.Struct, frozen=True, kw_only=True):
    """How a sample stands tonight; `since` is the number of the night since which it does.

    `since` is None where it never changed. `turned` is where an unsettled one did.
    `quarantined_until` is the day on which its quarantine ends, None for a sample that gates.
    """

    standing: SampleStanding
    since: int | None = None
    turned: SampleChange | None = None
    quarantined_until: date | None = None


class ExpectedFlips(msgspec.Struct, frozen=True, kw_only=True):
    """Samples that did worse tonight than the night before, and how many do with nothing changed.

    `chance` is how likely `fell` or more of the `samples` are.
    """

    samples: int
    fell: int
    expected: float
    chance: float


class ModelNights(msgspec.Struct, frozen=True, kw_only=True):
    """One model of one suite, oldest night first.

    `counts` says how many samples are in each state. `samples` are those that are not stable, or
    are quarantined: regressed ones first. `turns` are the nights on which samples changed. `whole`
    is the night since which the steady samples together pass more or less often, where no turn
    says so. `verdict` is tonight's, quarantined samples left out, or None without a baseline.
    """

    suite: str
    model: str
    nights: tuple[Night, ...]
    counts: Mapping[str, int]
    samples: tuple[SampleNow, ...] = ()
    turns: tuple[NightOfChange, ...] = ()
    whole: NightOfChange | None = None
    flips: ExpectedFlips | None = None
    baseline: str | None = None
    baseline_days: float | None = None
    verdict: SuiteVerdict | None = None
    warnings: tuple[str, ...] = ()

    @property
    def alarms(self) -> bool:
        """Say whether tonight is worse: by a metric that decides, or as a sample has regressed."""
        metrics = self.verdict.metrics if self.verdict is not None else ()
        worse = self.verdict is not None and self.verdict.verdict == "regressed"
        worse = worse or any(one.gating and one.verdict == "regressed" for one in metrics)
        # Without a pinned baseline the night has the verdict that it got itself.
        worse = worse or self.nights[-1].own_verdict == "regressed"
        return worse or any(one.standing.state == "regressed" for one in self.samples)


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """A run that is no night, and why."""

    run: str
    reason: str


class QuarantineState(msgspec.Struct, frozen=True, kw_only=True):
    """Which samples of a suite are quarantined: of `limit` that may be, those in force.

    `ended` are entries whose time is over or whose sample has changed, in words.
    """

    suite: str
    file: str
    limit: int
    in_force: tuple[str, ...]
    ended: tuple[str, ...] = ()


class History(msgspec.Struct, frozen=True, kw_only=True):
    """The nights that a folder of runs holds, by suite and model."""

    v: Literal[1] = 1
    folder: str
    models: tuple[ModelNights, ...]
    quarantines: tuple[QuarantineState, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
