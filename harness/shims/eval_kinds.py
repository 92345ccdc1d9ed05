"""The words of letta-evals that are no data: its enumerations, and the error of its targets."""

from enum import StrEnum
from typing import Any


class TargetKind(StrEnum):
    """How an agent is driven."""

    AGENT = "agent"
    LETTA_AGENT = "letta_agent"
    LETTA_CODE = "letta_code"


class GraderKind(StrEnum):
    """How a grader judges."""

    TOOL = "tool"
    RUBRIC = "rubric"
    MODEL_JUDGE = "model_judge"
    LETTA_JUDGE = "letta_judge"


class MetricOp(StrEnum):
    """How a gate compares."""

    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    EQ = "eq"


class GateMetric(StrEnum):
    """What a gate without a kind looks at."""

    AVG_SCORE = "avg_score"
    ACCURACY = "accuracy"


class Aggregation(StrEnum):
    """How the scores of a metric become one number."""

    AVG_SCORE = "avg_score"
    ACCURACY = "accuracy"
    MIN = "min"
    MAX = "max"
    MEDIAN = "median"
    P50 = "p50"
    P95 = "p95"
    P99 = "p99"


class GateKind(StrEnum):
    """How a gate is made up."""

    SIMPLE = "simple"
    WEIGHTED_AVERAGE = "weighted_average"
    LOGICAL = "logical"


class LogicalOp(StrEnum):
    """How the conditions of a gate are joined."""

    AND = "and"
    OR = "or"


class RewardKind(StrEnum):
    """What a reward is made of."""

    METRIC = "metric"
    CUSTOM = "custom"


class LLMProvider(StrEnum):
    """Who answers a judge."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GOOGLE = "google"


class ErrorCategory(StrEnum):
    """Where a sample went wrong."""

    TARGET = "target"
    EXTRACTION = "extraction"
    GRADING = "grading"
    REWARD = "reward"
    UNKNOWN = "unknown"


class ProgressStyle(StrEnum):
    """How progress is shown."""

    NONE = "none"
    SIMPLE = "simple"
    RICH = "rich"


class TargetError(Exception):
    """What a target of letta-evals raises; an agent factory may raise it too."""

    def __init__(self, message: str, agent_id: str | None = None, **fields: Any) -> None:
        super().__init__(message)
        self.agent_id = agent_id
        self.partial_trajectory = fields.get("partial_trajectory") or []
        self.agent_usage = fields.get("agent_usage")
        self.token_data = fields.get("token_data")
