"""What an entry of `graders` may say, as it is written in YAML."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from harness.types.grades import Role
from harness.types.marks import Isolation
from harness.types.suites import MOST_WEIGHT, Operator


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderEntry:
    """One grader: `kind: tool` with a `function`, or a `type` with its `config`."""

    kind: Literal["tool"] | None = field(
        default=None, metadata={"description": "`tool` names a function that grades a text."}
    )
    function: str | None = field(
        default=None,
        metadata={"description": "With `kind: tool`: a built-in grader, or file.py:function."},
    )
    type: str | None = field(
        default=None, metadata={"description": "Any grader by its name, or file.py:function."}
    )
    config: Mapping[str, Any] | None = field(
        default=None, metadata={"description": "Options of the grader."}
    )
    extractor: str | None = field(
        default=None,
        metadata={
            "description": "What takes the text out of the trajectory: a built-in extractor or "
            "file.py:function; last_assistant if left out."
        },
    )
    extractor_config: Mapping[str, Any] | None = field(
        default=None, metadata={"description": "Options of the extractor."}
    )
    turn: int | None = field(
        default=None,
        metadata={"description": "Grade one user turn alone: 0-based, negative from the end."},
    )
    weight: float = field(
        default=1.0,
        metadata={"ge": 0, "le": MOST_WEIGHT, "description": "Weight in the score of a trial."},
    )
    threshold: float = field(
        default=1.0,
        metadata={"ge": 0, "le": 1, "description": "The score from which on a grade has passed."},
    )
    op: Operator = field(
        default="gte",
        metadata={
            "description": "How a score is held against the threshold: gte, or lte where a low "
            "score is good."
        },
    )
    role: Role | None = field(
        default=None,
        metadata={
            "description": "required: its failure fails the trial; scored: it counts in the "
            "weighted mean; observed: it never decides."
        },
    )
    isolation: Isolation = field(
        default="thread",
        metadata={"description": "Where a function of the suite runs: thread or process."},
    )
    name: str | None = field(
        default=None, metadata={"description": "The grader's name, where `graders` is a list."}
    )
    display_name: str | None = field(
        default=None, metadata={"description": "What a person reads in place of the name."}
    )
