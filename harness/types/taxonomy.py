"""What kind of check a grader is: shown by `regrade list graders`, and its order of running."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Taxonomy:
    """How a grader decides, what it costs, and what it looks at."""

    determinism: Literal["static", "complex-static", "llm"] = "static"
    cost: Literal["free", "low", "medium", "high"] = "free"
    reference: Literal["reference-free", "reference-based"]
    scope: Literal["point-in-time", "trajectory-level", "cross-trajectory"]
    score_kind: Literal["code", "llm"] = "code"
