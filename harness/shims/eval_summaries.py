"""The records in which letta-evals keeps errors and the numbers of a run, with the fields of 0.26.

Nothing of Regrade fills them; they are here for files that import or make them.
"""

from pydantic import BaseModel, Field

from harness.shims.eval_kinds import ErrorCategory
from harness.shims.eval_models import SampleResult, Usage


class Error(BaseModel):
    """Why a sample failed."""

    category: ErrorCategory
    exception_type: str
    message: str


ErrorInfo = Error
"""What it was called in 0.16."""


class ErrorSummary(BaseModel):
    """The errors of a run, counted."""

    total_errors: int
    by_category: dict[str, int] = Field(default_factory=dict)
    by_exception_type: dict[str, int] = Field(default_factory=dict)


class TimingStats(BaseModel):
    """How long samples took, in seconds."""

    mean_total: float
    mean_target: float
    mean_extraction: float | None = None
    p50_total: float
    p95_total: float
    per_grader_mean: dict[str, float] | None = None


class PerRunSummary(BaseModel):
    """One of several runs on a model."""

    run: int
    reward: float
    per_metric: dict[str, float]
    usage: Usage
    timing: TimingStats
    n_errors: int = 0
    cost_missing: int = 0


class ModelSummary(BaseModel):
    """One model."""

    model: str
    n_total: int
    n_attempted: int
    reward: float
    reward_std: float | None = None
    per_metric: dict[str, float]
    per_metric_std: dict[str, float] | None = None
    usage: Usage
    timing: TimingStats
    cost_missing: int = 0
    errors: ErrorSummary | None = None
    runs: list[PerRunSummary] | None = None


class Summary(BaseModel):
    """All models of a run."""

    suite: str
    models: list[ModelSummary]


class ModelRun(BaseModel):
    """The results on one model."""

    model: str
    results: list[SampleResult]
    runs: list[list[SampleResult]] | None = None
    summary: ModelSummary
