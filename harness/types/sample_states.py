"""How one sample has been doing over the nights."""

from typing import Literal

import msgspec

SampleState = Literal[
    "stable_pass", "stable_fail", "flaky", "regressed", "fixed", "new", "unsettled"
]
"""What a sample's history says of it; `new` is one with too little history to say.

`unsettled` is one whose trials ended one way up to some night, and the other way in every trial
since, which are too few to say that it has regressed or is fixed.
"""


class SampleStanding(msgspec.Struct, frozen=True, kw_only=True):
    """One sample tonight, held against its own earlier nights.

    `passes` of `trials` passed before, `passes_tonight` of `trials_tonight` tonight. `p_fewer` is
    how likely so few passes were, `p_more` so many; the `adjusted_*` are after Benjamini-Hochberg
    over all samples, and decide. `disagreement` is how often two of its trials disagree, over all
    nights, None for fewer than two. `low` and `high` are the Jeffreys 95 % interval of its pass
    rate over all nights. `mixed` is how likely its true pass rate lies strictly inside 5 to 95 %.
    """

    sample_id: str
    state: SampleState
    passes: int
    trials: int
    passes_tonight: int
    trials_tonight: int
    p_fewer: float
    p_more: float
    adjusted_p_fewer: float
    adjusted_p_more: float
    disagreement: float | None
    low: float
    high: float
    mixed: float
