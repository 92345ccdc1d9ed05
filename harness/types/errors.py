"""Errors, each with a code and a place, and the one table that says what a code means for a trial.

The tree::

    HarnessError
    ├── InputError           what the user wrote: one or more faults, exit 2
    │   ├── SuiteError
    │   └── DatasetError
    ├── TargetError          an attempt that could not be driven to its end
    ├── GraderError          a grader or extractor that broke
    ├── StoreError           a run directory that cannot be written or read
    └── ComparisonError      runs that cannot be compared, as is known before one is made
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from types import MappingProxyType
from typing import Any, Literal

TrialFault = Literal["agent_failure", "target_error", "grading_error", "interrupted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What an error code means: what the trial becomes, and whether trying again can help.

    `status` is the status of a trial that ends with the code. `retried` says that a new attempt
    from a clean agent may go better. `resent` says that the request was refused before it had
    any effect, so that a stateless endpoint may be asked again in place. `graded` says that
    the partial trajectory is graded, for the reader; it decides nothing. `stops_after` is how many
    trials of a model in a row have to end so, none driven in between, until no further trial of it
    is started, because every one would meet the error; 0 for never.
    """

    status: TrialFault
    retried: bool = False
    resent: bool = False
    graded: bool = False
    stops_after: int = 0

    @property
    def counted(self) -> Literal["failure", "error", "missing"]:
        """Say how the trial enters the numbers: as the agent's failure, an error apart, or not."""
        if self.status == "interrupted":
            return "missing"
        return "failure" if self.status == "agent_failure" else "error"


MANY_IN_A_ROW = 50
"""How many trials in a row condemn a model, where each may only have had bad luck.

A refused request may be the fault of its sample, and a busy endpoint may be free in a minute.
"""

_AGENT = Policy(status="agent_failure", graded=True)
_OUTAGE = Policy(status="target_error", retried=True)
_REFUSED = Policy(status="target_error", retried=True, resent=True, stops_after=MANY_IN_A_ROW)
_FINAL = Policy(status="target_error")
_NOBODY_THERE = Policy(status="target_error", retried=True, resent=True, stops_after=5)
_UNREACHABLE = Policy(status="target_error", retried=True, stops_after=5)
_SHUT_OUT = Policy(status="target_error", stops_after=5)
_REFUSED_REQUEST = Policy(status="target_error", stops_after=MANY_IN_A_ROW)
_GRADER = Policy(status="grading_error")
_CUT_OFF = Policy(status="interrupted")
_ASKED_AGAIN = Policy(status="grading_error", retried=True)

POLICIES: Mapping[str, Policy] = MappingProxyType(
    {
        # the agent's own doing
        "turn_timeout": _AGENT,  # a turn took longer than limits.turn_seconds
        "trial_timeout": _AGENT,  # the trial took longer than limits.trial_seconds
        "agent_crash": _AGENT,  # the agent's program raised
        "max_steps": _AGENT,  # the agent used up its steps without an answer
        # refused before it had any effect
        "rate_limited": _REFUSED,  # 429
        "overloaded": _REFUSED,  # 503, 529
        "connection_refused": _NOBODY_THERE,  # nobody listens
        # broke on the way
        "unknown_host": _UNREACHABLE,  # its name has no address
        "untrusted_certificate": _UNREACHABLE,  # TLS does not accept who answers
        "connection_lost": _OUTAGE,  # reset, other failures of TLS, a read that timed out
        "stream_cut": _OUTAGE,  # a streamed reply without its end
        "server_error": _OUTAGE,  # any other 5xx
        "bad_reply": _OUTAGE,  # a reply that is not what the API promises
        # trying again gives the same
        "quota_exhausted": _SHUT_OUT,  # 429 that no waiting cures
        "bad_request": _REFUSED_REQUEST,  # 400, 422
        "unauthorized": _SHUT_OUT,  # 401
        "forbidden": _SHUT_OUT,  # 403
        "not_found": _SHUT_OUT,  # 404, unknown model
        "context_length": _FINAL,  # the conversation is longer than the model takes
        "content_filter": _FINAL,  # the provider refused the content
        "agent_contract": _FINAL,  # a Python agent returned what no trajectory can hold
        "fixture_broke": _FINAL,  # a fixture raised while it was set up or read
        "target_broke": _FINAL,  # a target plug-in raised what no target may raise
        # cut off by the end of the run; resuming it makes up for that
        "interrupted": _CUT_OFF,  # while the agent was driven: it is driven again
        "grading_interrupted": _CUT_OFF,  # while its graders worked: it is graded, not driven
        # a grader's doing
        "grader_broke": _GRADER,  # raised, or returned what is no grade
        "grader_timeout": _GRADER,  # a custom function took longer than limits.grader_seconds
        "pattern_timeout": _GRADER,  # a pattern took longer than its time limit
        # a judge's doing: a language model that grades
        "judge_prompt": _GRADER,  # its prompt cannot be made: no rubric, an unknown placeholder
        "judge_refused": _GRADER,  # asking again gives the same: no key, an unknown model
        "judge_unreachable": _GRADER,  # no answer: rate limits, outages, its time limit
        "judge_reply": _ASKED_AGAIN,  # its reply holds no score in 0..1
    }
)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Fault:
    """One mistake in what the user wrote: where it stands, what is wrong, what is allowed.

    `line` and `column` count from 1; 0 says that the place is the file as a whole. `path` is the
    place inside the document, such as `graders.surfaced_id.config.pattern`; empty for none.
    """

    file: str
    line: int = 0
    column: int = 0
    path: str = ""
    problem: str
    allowed: str = ""

    def __str__(self) -> str:
        """Return the fault as `file:line:column: path: what; what is allowed`.

        Keys and ids are part of it, with whatever characters they hold: show it by `one_line`.
        """
        place = ":".join([self.file, *(str(n) for n in (self.line, self.column) if n)])
        parts = [place, *([self.path] if self.path else []), self.problem]
        text = ": ".join(parts)
        return f"{text}; {self.allowed}" if self.allowed else text


class HarnessError(Exception):
    """The root of all errors that Regrade raises on purpose.

    `code` names the kind of error, `place` where it happened (`file:line:column` or
    `sample/model/epoch`), `hint` what to do about it.
    """

    def __init__(self, message: str, *, code: str, place: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.place = place
        self.hint = hint

    @property
    def line(self) -> str:
        """Describe the error in one line: where, what, and what to do."""
        place = f"{self.place}: " if self.place else ""
        hint = f"; {self.hint}" if self.hint else ""
        return f"{place}{self}{hint}"


class InputError(HarnessError):
    """What the user wrote cannot be used; carries every fault that was found."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(map(str, self.faults)), code="bad_input")


class SuiteError(InputError):
    """A suite, or a Python file of it, cannot be used."""


class DatasetError(InputError):
    """A dataset cannot be used."""


class TargetError(HarnessError):
    """An attempt could not be driven to its end; `code` is a key of `POLICIES`.

    `retry_after` is how many seconds the endpoint asked to wait, where it did.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "connection_lost",
        retry_after: float | None = None,
        hint: str = "",
    ) -> None:
        if code not in POLICIES:
            raise ValueError(f"unknown code {code!r}; there are {', '.join(POLICIES)}")
        if retry_after is not None and not _is_seconds(retry_after):
            raise ValueError(f"retry_after must be a number of seconds from 0, got {retry_after!r}")
        super().__init__(message, code=code, hint=hint)
        self.retry_after = retry_after

    @property
    def policy(self) -> Policy:
        """Return the table's word on this error."""
        return POLICIES[self.code]


def _is_seconds(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= value < inf


class GraderError(HarnessError):
    """A grader or extractor broke; its grade is an error, never a score."""

    def __init__(self, message: str, *, code: str = "grader_broke") -> None:
        super().__init__(message, code=code)


class StoreError(HarnessError):
    """A run directory cannot be written or read."""

    def __init__(self, message: str, *, place: str = "", hint: str = "") -> None:
        super().__init__(message, code="store", place=place, hint=hint)


class ComparisonError(HarnessError):
    """Runs cannot be compared, as is known before one of them is made."""

    def __init__(self, message: str, *, place: str = "", hint: str = "") -> None:
        super().__init__(message, code="incomparable", place=place, hint=hint)
