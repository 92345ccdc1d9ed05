"""The graders of whole trajectories by name; `catalogue` lists them beside the others.

Names with a hyphen that Vally (0.15) has too mean what they mean there.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from graders.answer_tells import ToolOutputInAnswer
from graders.argument_checks import ToolArgumentsCheck
from graders.budgets import ErrorCount, StepCount, TokenBudget, ToolCallCount, TurnCount, WallTime
from graders.called_tools import ToolCalls
from graders.combinations import AllOf, AnyOf, Not
from graders.context_events import SkillInvocation, SystemEventKinds
from graders.invented_values import NoInventedValues
from graders.output_texts import (
    OutputContains,
    OutputMatches,
    OutputNotContains,
    OutputNotMatches,
)
from graders.reference_calls import TrajectoryMatch
from graders.repeats import LoopOutcome, MaxRepeat
from graders.schema_checks import JsonSchemaCheck
from graders.session_ends import Completed, ExitSuccess
from graders.state_checks import StateContains, StateEquals
from graders.success_rates import ToolSuccessRate
from graders.transcript_texts import (
    TranscriptContains,
    TranscriptMatches,
    TranscriptNotContains,
    TranscriptNotMatches,
)

TRAJECTORY_GRADERS: Mapping[str, type[Any]] = MappingProxyType(
    {
        "output-contains": OutputContains,
        "output-not-contains": OutputNotContains,
        "output-matches": OutputMatches,
        "output-not-matches": OutputNotMatches,
        "transcript-contains": TranscriptContains,
        "transcript-not-contains": TranscriptNotContains,
        "transcript-matches": TranscriptMatches,
        "transcript-not-matches": TranscriptNotMatches,
        "completed": Completed,
        "exit-success": ExitSuccess,
        "token-budget": TokenBudget,
        "tool-call-count": ToolCallCount,
        "step-count": StepCount,
        "turn-count": TurnCount,
        "error-count": ErrorCount,
        "wall-time": WallTime,
        "tool-calls": ToolCalls,
        "skill-invocation": SkillInvocation,
        "system-event": SystemEventKinds,
        "max-repeat": MaxRepeat,
        "loop-outcome": LoopOutcome,
        "json-schema": JsonSchemaCheck,
        "tool-arguments": ToolArgumentsCheck,
        "trajectory-match": TrajectoryMatch,
        "no-invented-values": NoInventedValues,
        "tool-output-in-answer": ToolOutputInAnswer,
        "tool-success-rate": ToolSuccessRate,
        "state-equals": StateEquals,
        "state-contains": StateContains,
        "all-of": AllOf,
        "any-of": AnyOf,
        "not": Not,
    }
)
"""Graders: a name -> a frozen dataclass whose fields are the options."""
