"""The records that functions of letta-evals take and return, with the fields of its 0.26.

They are pydantic models as there, so that `model_dump()` and checked fields work. A score that is
not a number is refused, which letta-evals lets pass.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, model_validator

SampleId = int | str

Score = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
"""A number in 0..1."""


class Sample(BaseModel):
    """One row of a dataset."""

    id: SampleId
    input: str | list[str]
    ground_truth: str | list[str] | None = None
    agent_args: dict[str, Any] | None = None
    rubric_vars: dict[str, Any] | None = None
    extra_vars: dict[str, Any] | None = None
    rubric: str | None = None
    rubric_path: Path | None = None

    @model_validator(mode="after")
    def _check_lists(self) -> Self:
        prompts, truths = self.input, self.ground_truth
        if isinstance(truths, list) and not isinstance(prompts, list):
            problem = "ground_truth cannot be a list when input is a string"
            raise ValueError(problem)  # noqa: TRY004  (what pydantic reports as a fault)
        if isinstance(truths, list) and len(truths) != len(prompts):
            raise ValueError(
                f"input has {len(prompts)} items but ground_truth has {len(truths)} items"
            )
        if self.rubric is not None and self.rubric_path is not None:
            raise ValueError("a sample has a rubric or a rubric_path, not both")
        return self


class PerTurnGrade(BaseModel):
    """The grade of one turn."""

    turn: int
    score: Score
    rationale: str | None = None
    submission: str


class GradeResult(BaseModel):
    """What a grader returns."""

    score: Score
    rationale: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    per_turn_grades: list[PerTurnGrade] | None = None


class RewardOutput(BaseModel):
    """What a reward composer returns."""

    score: Score
    metadata: dict[str, Any] | None = None


class Usage(BaseModel):
    """Tokens, and dollars."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float | None = None


class Timing(BaseModel):
    """Where the time of a sample went, in seconds."""

    total: float
    target: float
    extraction: float | None = None
    per_grader: dict[str, float] | None = None


@dataclass(frozen=True)
class RewardContext:
    """What a reward composer is given."""

    sample: Sample
    grades: Mapping[str, GradeResult]
    submissions: Mapping[str, str]
    trajectory: list[list[Any]]
    agent_id: str | None
    model_handle: str | None
    agent_state: Any
    usage: Usage | None
    timing: Timing


class TurnTokenData(BaseModel):
    """The tokens of one message."""

    role: str
    content: str | None = None
    input_ids: list[int] | None = None
    output_ids: list[int] | None = None
    output_token_logprobs: list[Any] | None = None


class TargetResult(BaseModel):
    """What driving a sample gave."""

    agent_id: str
    model_handle: str
    agent_usage: list[dict[str, Any]] | None = None


class SampleResult(BaseModel):
    """What came of a sample."""

    sample_id: SampleId
    agent_id: str | None = None
    model_handle: str | None = None
    agent_usage: list[dict[str, Any]] | None = None
    trajectory: list[list[Any]] = Field(default_factory=list)
    agent_state: Any = None
    token_data: list[TurnTokenData] | None = None
    submissions: dict[str, str] = Field(default_factory=dict)
    grades: dict[str, GradeResult] = Field(default_factory=dict)
    reward: RewardOutput | None = None
    usage: Usage | None = None
    timing: Timing
    error: Any = None
