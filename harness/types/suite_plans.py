"""What a suite can and cannot see, said before it is run; rates and drops are fractions.

A `SuitePlan` is what `regrade plan --json` writes.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

ChurnSource = Literal["assumed", "measured", "at_most"]
"""Where a churn comes from: nowhere, repeated trials of earlier runs, or their pass rate alone."""


class Chances(msgspec.Struct, frozen=True, kw_only=True):
    """How likely each verdict is where the pass rate truly drops by `drop`; exact, for one epoch.

    The margin is the drop that is to be detected.
    """

    drop: float
    regressed: float
    improved: float
    no_worse: float
    inconclusive: float


class Sight(msgspec.Struct, frozen=True, kw_only=True):
    """What a comparison of two runs of the suite sees on one model.

    `churn` is the share of samples that change between two runs of one epoch with nothing changed.
    `chance` is that of calling a drop of the size asked for REGRESSED where every sample passes as
    much less often; `chance_if_whole` where the drop is in as few samples as can be, which always
    passed and never do. For a drop of every sample, `detectable` is the smallest that is called
    REGRESSED with 80 % chance, None where none is; `samples_needed` and `epochs_needed` are what
    sees the drop asked for with 80 % chance, each with the other as it is.
    """

    churn: float
    source: ChurnSource
    detectable: float | None
    chance: float
    chance_if_whole: float
    samples_needed: int
    epochs_needed: int
    verdicts: tuple[Chances, ...] = ()


class ExpectedSpending(msgspec.Struct, frozen=True, kw_only=True):
    """What a run will cost and take on one model, by what `of` trials of earlier runs did.

    `cost_usd` and `tokens` are None where no trial says what it used; `unknown` is how many do not.
    `agent_seconds` is the time of all trials together, one after the other.
    """

    of: int
    agent_seconds: float
    cost_usd: float | None
    tokens: int | None
    unknown: int = 0


class ModelPlan(msgspec.Struct, frozen=True, kw_only=True):
    """One model: what is seen on it, under each churn that is looked at, and what it costs."""

    model: str
    trials: int
    sights: tuple[Sight, ...]
    spending: ExpectedSpending | None = None


class SuitePlan(msgspec.Struct, frozen=True, kw_only=True):
    """A suite before it is run.

    `detect` is the drop to be seen. `seconds` is how long the run takes with `concurrency` trials
    at once, where earlier runs say how long trials take; `limits` of the suite come on top.
    """

    v: Literal[1] = 1
    suite: str
    samples: int
    epochs: int
    trials: int
    concurrency: int
    detect: float
    models: tuple[ModelPlan, ...]
    seconds: float | None = None
    limits: Mapping[str, float] = {}
    sources: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
