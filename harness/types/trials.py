"""A trial: one run of one sample on one model in one epoch, and what came of it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

import msgspec

from harness.types.grades import Grade
from harness.types.samples import Sample
from harness.types.trajectories import Trajectory, Usage

TrialStatus = Literal["completed", "agent_failure", "target_error", "grading_error", "interrupted"]

ERROR_STATUSES: frozenset[TrialStatus] = frozenset({"target_error", "grading_error"})
"""Statuses of trials without a verdict; they count as failures, and are shown apart."""

INTERRUPTED: TrialStatus = "interrupted"
"""The status of a trial that the end of its run cut off: it is in no number, and missing."""

Slices = dict[str, tuple[str, ...]]
"""The values of a sample by the name that is sliced by, such as `language`: no, one or several."""

VERSION = 1
"""The version of a stored trial; a line without `v` is version 1 for ever."""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why an attempt or a trial did not end well; `code` is a key of the table of errors."""

    code: str
    message: str


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One try inside a trial, from a clean agent."""

    started_at: datetime
    seconds: float
    error: Failure | None = None
    usage: Usage = Usage()


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """Where the time of a trial went, in seconds by a clock that never jumps.

    `stated_seconds` is how long the conversation took as the record of another tool states it; it
    is left out where none does.
    """

    started_at: datetime
    target_seconds: float = 0.0
    waiting_seconds: float = 0.0
    grading_seconds: float = 0.0
    stated_seconds: float | msgspec.UnsetType = msgspec.UNSET


class Keys(msgspec.Struct, frozen=True, kw_only=True):
    """Hashes that say whether a stored trial still counts: of the target, and of the sample."""

    drive: str
    sample: str


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One line of `trials.jsonl`.

    `passed` and `score` are None where the trial could not be driven or graded; `snapshots` is
    the end state of the trial's fixtures by name; `usage` sums the attempts. `sample` is what the
    record of another tool says of its sample; it is left out where a dataset holds the sample.
    `slices` are the values of the sample by the names that the suite slices by: none where the
    sample has none, left out where the suite slices by nothing. `revision` tells the lines of one
    trial apart, which was driven or graded again: the highest counts. It is left out of the first.
    """

    v: int = VERSION
    sample_id: str
    model: str
    epoch: int
    status: TrialStatus
    passed: bool | None
    score: float | None
    grades: dict[str, Grade]
    trajectory: Trajectory
    attempts: tuple[Attempt, ...]
    usage: Usage
    timing: Timing
    error: Failure | None
    keys: Keys
    snapshots: dict[str, Any] = {}
    sample: Sample | msgspec.UnsetType = msgspec.UNSET
    slices: Slices | msgspec.UnsetType = msgspec.UNSET
    revision: int | msgspec.UnsetType = msgspec.UNSET


class TrialFacts(msgspec.Struct, frozen=True, kw_only=True):
    """How the trial that is judged was driven, and how it was judged so far.

    `seconds` is how long the agent worked, `usage` what it used, in all attempts; `grades` are
    those of the graders that have run. `stated_seconds` and `stated_usage` are what the record of
    another tool states of the conversation as a whole: None where it does not, or where one turn
    is judged.
    """

    model: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0
    grades: Mapping[str, Grade] = {}
    stated_seconds: float | None = None
    stated_usage: Usage | None = None


ShortGrade = tuple[float | None, bool | None, str]
"""A grade as an outcome holds it: its score, whether it passed, its status."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of `outcomes.jsonl`: a trial without its trajectory.

    `grades` holds (score, passed, status) by grader, `judge_usage` what judging it used.
    `sample_key` and `grade_keys` (by grader) are the first 16 hex digits of the hashes that stand
    in the trial: of what the agent was given, and of what each grade was made of. `steps` and
    `tool_calls` count what the last attempt did: replies of the model (None where none was
    recorded) and calls; `seconds` and `usage` are those of all attempts. `tool_calls` is None in
    the files of older versions. `error_code` is a key of the table of errors. In the file every
    line ends with a `seal`, by which it is known to be that of its trial.
    """

    sample_id: str
    model: str
    epoch: int
    status: TrialStatus
    passed: bool | None = None
    score: float | None = None
    seconds: float = 0.0
    usage: Usage = Usage()
    judge_usage: Usage | None = None
    grades: dict[str, ShortGrade] = {}
    sample_key: str = ""
    grade_keys: dict[str, str] = {}
    steps: int | None = None
    tool_calls: int | None = None
    error_code: str | None = None
    slices: Slices = {}
    revision: int = 0
