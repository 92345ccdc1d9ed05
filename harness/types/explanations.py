"""Explanations: why a run is as it is, and what every sample of it came to, for those who read it.

An `Explanation` is what `regrade explain --json` prints.
"""

from typing import Literal

import msgspec

from harness.types.comparisons import Comparison, EventAt
from harness.types.summaries import FailedTrial, Interval

Origin = Literal["agent", "provider", "grader", "harness", "suite"]
"""Where a failure comes from.

The agent did something wrong; the endpoint that was asked did not answer as it should; a grader
broke; Regrade or a plug-in of it did; or what the suite brings along did, such as a fixture.
"""

RunState = Literal["passed", "gate_missed", "regressed", "incomplete"]


class BadEvent(msgspec.Struct, frozen=True, kw_only=True):
    """The first thing that went wrong in a trial.

    `words` say it in a sentence part that is alike for like failures, such as "skips `lookup`".
    `event` is where it happened, None where no event shows it.
    """

    origin: Origin
    words: str
    event: EventAt | None = None


class FailureGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Failing trials that are alike: by grader, and by what first went wrong.

    `grader` is None where an error or the agent's end says it. `samples` are the ids of the first
    twenty samples in order, `sample_count` counts all; `evidence` is that of the first trial, and
    `event` where that went wrong, where an event shows it.
    """

    origin: Origin
    grader: str | None
    words: str
    trials: int
    samples: tuple[str, ...]
    sample_count: int
    models: tuple[str, ...]
    evidence: str
    event: EventAt | None = None


class ShownFailure(msgspec.Struct, frozen=True, kw_only=True):
    """A failing trial in full: what was said of it, where it went wrong, and how to see it again.

    `place` is the line of the dataset, `file:line`, where known; `commands` show the trial, and
    drive its sample again where that can be done.
    """

    trial: FailedTrial
    bad: BadEvent
    place: str | None
    commands: tuple[str, ...]


class MissedGate(msgspec.Struct, frozen=True, kw_only=True):
    """A gate that was not met: what it says, and what the run has; None for nothing measured.

    `passed` is None where it could not be judged; `note` says why there is no value.
    """

    text: str
    value: float | None
    passed: bool | None = False
    note: str | None = None


class NextStep(msgspec.Struct, frozen=True, kw_only=True):
    """What to do next about a run that could not be judged wholly, or has regressed.

    It is said in words, and for a shell.

    `command` is None where there is none, such as for a suite that was made in Python.
    """

    words: str
    command: str | None = None


class SliceNumbers(msgspec.Struct, frozen=True, kw_only=True):
    """A slice of a model in a few words: how many of its trials passed; errors as for the model."""

    name: str
    value: str
    passed: int
    trials: int
    rate: float


class ModelNumbers(msgspec.Struct, frozen=True, kw_only=True):
    """One model in one line.

    `errors` are left out of `pass_rate` where `errors_left_out`, and failures in it otherwise;
    `ungraded` trials are in no rate. `low_slices` are the three whose pass rate is lowest, of those
    below the model's own. `served` are the models that really answered, as their
    endpoint names them, in the trials that were looked at.
    """

    model: str
    passed: int
    trials: int
    errors: int
    pass_rate: Interval
    ungraded: int = 0
    errors_left_out: bool = False
    low_slices: tuple[SliceNumbers, ...] = ()
    served: tuple[str, ...] = ()


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """Why a run is as it is.

    `verdict` says it in a sentence. `failing` counts the trials that did not pass, of `trials`;
    `looked_at` of them were read and make up `groups` (largest first) and `origins` (trials by
    where their failure comes from). `shown` are three of them. `comparisons` are those with a
    baseline, one a model; what else has changed since stands in them. `next_step` is what makes a
    run whole that is not, or what to do about a regression.
    """

    suite: str
    run_id: str
    state: RunState
    verdict: str
    trials: int
    failing: int
    looked_at: int
    models: tuple[ModelNumbers, ...]
    groups: tuple[FailureGroup, ...] = ()
    origins: dict[Origin, int] = {}
    shown: tuple[ShownFailure, ...] = ()
    missed_gates: tuple[MissedGate, ...] = ()
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    next_step: NextStep | None = None


class SampleResult(msgspec.Struct, frozen=True, kw_only=True):
    """What all epochs of one sample on one model came to.

    `seconds` sums how long the agent worked. `failures` are the first trials that failed, `errors`
    the first that could not be driven or graded, five at most each.
    """

    sample_id: str
    model: str
    passed: int = 0
    failed: int = 0
    errored: int = 0
    ungraded: int = 0
    seconds: float = 0.0
    failures: tuple[FailedTrial, ...] = ()
    errors: tuple[FailedTrial, ...] = ()

    @property
    def trials(self) -> int:
        """Count the epochs that have an outcome."""
        return self.passed + self.failed + self.errored + self.ungraded


class Place(msgspec.Struct, frozen=True):
    """A line of a dataset; `file` is relative to where the command runs, with forward slashes.

    `line` counts from 1; 0 says that only the file is known.
    """

    file: str
    line: int

    def __str__(self) -> str:
        """Return `file:line`."""
        return f"{self.file}:{self.line}" if self.line else self.file
