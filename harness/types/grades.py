"""A grade: one grader's judgement of one trajectory."""

from typing import Any, Literal

import msgspec

from harness.types.trajectories import Usage

Status = Literal["graded", "error", "skipped"]
Role = Literal["required", "scored", "observed"]

RECORDED = "recorded."
"""What the names of grades begin with that a record of another tool brought along.

They are observed: gates and comparisons can use them, and they decide no trial.
"""

SKIPPED = f"{RECORDED}skipped"
"""The grade of a trial that the other tool has skipped."""


class Ref(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Points at an event that evidence rests on, and at the characters in its text.

    `turn` and `event` are indices from 0 into the whole trajectory; `start` and `end` are a
    half-open span of characters of the event's text, as `harness.messages.event_texts` gives it: a
    result's `output`, a call's arguments as they were sent, a message's `text`.
    """

    turn: int
    event: int
    start: int | None = None
    end: int | None = None


class Grade(msgspec.Struct, frozen=True, kw_only=True):
    """One judgement: `score` in 0..1, `passed`, and the `evidence` in one plain sentence.

    A grader gives `score` (and `passed` where the score alone does not say it); what it leaves
    out is filled in by the harness: `passed` from the threshold, `submission` from the
    extractor, `key` from the grader and what it was given. `status` is `error` for a grader
    that broke (`score` and `passed` None) and `skipped` for one that does not apply. `usage` is
    what a language model used for this judgement, and is left out where none was asked.
    """

    score: float | None = None
    passed: bool | None = None
    evidence: str = ""
    status: Status = "graded"
    refs: tuple[Ref, ...] = ()
    submission: str | None = None
    details: dict[str, Any] = {}
    key: str | None = None
    usage: Usage | msgspec.UnsetType = msgspec.UNSET
