"""Which names of letta-evals (0.2 to 0.26) can be imported, and where Regrade keeps them."""

from collections.abc import Mapping
from types import MappingProxyType

PACKAGE = "letta_evals"

_HERE = "harness.shims"

_DECORATORS = ("agent_factory", "extractor", "grader", "reward_composer", "suite_setup")
_REGISTRIES = ("EXTRACTOR_REGISTRY", "GRADER_REGISTRY")
_MODELS = (
    "GradeResult",
    "PerTurnGrade",
    "RewardContext",
    "RewardOutput",
    "Sample",
    "SampleId",
    "SampleResult",
    "TargetResult",
    "Timing",
    "TurnTokenData",
    "Usage",
)
_SUMMARIES = (
    "Error",
    "ErrorInfo",
    "ErrorSummary",
    "ModelRun",
    "ModelSummary",
    "PerRunSummary",
    "Summary",
    "TimingStats",
)
_KINDS = (
    "Aggregation",
    "ErrorCategory",
    "GateKind",
    "GateMetric",
    "GraderKind",
    "LLMProvider",
    "LogicalOp",
    "MetricOp",
    "ProgressStyle",
    "RewardKind",
    "TargetKind",
)
_SPECS = (
    "CustomRewardSpec",
    "GateSpec",
    "GraderSpec",
    "LettaCodeTargetSpec",
    "LogicalGateSpec",
    "MetricRewardSpec",
    "ModelJudgeGraderSpec",
    "RewardSpec",
    "SimpleGateSpec",
    "SuiteSpec",
    "TargetSpec",
    "ToolGraderSpec",
    "WeightedAverageGateSpec",
)
_OLD_RESULTS = (
    "MetricAggregate",
    "Metrics",
    "ModelMetrics",
    "RunStatistics",
    "RunnerResult",
)
_GRADERS = ("AgentJudgeGrader", "Grader", "RubricGrader", "ToolGrader")
_TARGETS = ("AbstractAgentTarget", "AgentTarget", "LettaAgentTarget", "LettaCodeTarget")
_RUNNER = ("Runner", "run_suite")
_PROGRESS = ("ProgressCallback", "create_progress_callback")
_LOADERS = ("load_csv", "load_dataset", "load_jsonl")
_TARGET_ERROR = ("TargetError",)
_LISTS = (
    "flatten_content",
    "get_assistant_messages",
    "get_last_turn_messages",
    "get_messages_by_type",
    "get_tool_calls",
)
EXTRACTORS = (
    "after_marker",
    "all_assistant",
    "first_assistant",
    "last_assistant",
    "last_turn",
    "memory_block",
    "pattern",
    "tool_arguments",
    "tool_output",
)
FUNCTIONS = ("ascii_printable_only", "contains", "exact_match", "regex_match")
_STATE = ("AgentState", "ToolReturnMessage")
_MESSAGES = (
    "ApprovalRequestMessage",
    "ApprovalResponseMessage",
    "AssistantMessage",
    "EventMessage",
    "HiddenReasoningMessage",
    "ReasoningMessage",
    "SummaryMessage",
    "SystemMessage",
    "ToolCallMessage",
    "UserMessage",
)
_UNION = ("LettaMessageUnion",)

_HOMES: Mapping[tuple[str, ...], str] = {
    _DECORATORS: f"{_HERE}.function_marks",
    _REGISTRIES: f"{_HERE}.function_registry",
    _MODELS: f"{_HERE}.eval_models",
    _SUMMARIES: f"{_HERE}.eval_summaries",
    _KINDS: f"{_HERE}.eval_kinds",
    _TARGET_ERROR: f"{_HERE}.eval_kinds",
    _SPECS: f"{_HERE}.refused_members",
    _OLD_RESULTS: f"{_HERE}.refused_members",
    _GRADERS: f"{_HERE}.refused_members",
    _TARGETS: f"{_HERE}.refused_members",
    _RUNNER: f"{_HERE}.refused_members",
    _PROGRESS: f"{_HERE}.refused_members",
    _LOADERS: f"{_HERE}.refused_members",
    _LISTS: f"{_HERE}.message_lists",
    EXTRACTORS: f"{_HERE}.builtin_functions",
    FUNCTIONS: f"{_HERE}.builtin_functions",
    _STATE: "letta_client.types",
    _MESSAGES: "letta_client.types.agents",
    _UNION: f"{_HERE}.message_lists",
}
_HOME_OF = {name: home for names, home in _HOMES.items() for name in names}


def _members(*groups: tuple[str, ...]) -> Mapping[str, str]:
    names = sorted(name for group in groups for name in group)
    return MappingProxyType({name: _HOME_OF[name] for name in names})


_ALL_MODELS = (_MODELS, _SUMMARIES, _KINDS, _SPECS, _OLD_RESULTS, _STATE, _MESSAGES, _UNION)

MODULES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        PACKAGE: _members(
            _DECORATORS,
            *(_MODELS, _SUMMARIES, _KINDS, _SPECS, _OLD_RESULTS, _UNION),
            *(_GRADERS, _TARGETS, _RUNNER, _PROGRESS, _TARGET_ERROR),
            ("AgentState",),
        ),
        f"{PACKAGE}.decorators": _members(_DECORATORS, _REGISTRIES, ("GradeResult",)),
        f"{PACKAGE}.models": _members(*_ALL_MODELS),
        f"{PACKAGE}.models.results": _members(*_ALL_MODELS),
        f"{PACKAGE}.models.sample": _members(("Sample", "SampleId")),
        f"{PACKAGE}.models.specs": _members(_SPECS),
        f"{PACKAGE}.models.summaries": _members(_SUMMARIES, ("RunnerResult",)),
        f"{PACKAGE}.types": _members(_KINDS, ("ProgressCallback",)),
        f"{PACKAGE}.rewards": _members(("RewardContext", "RewardOutput")),
        f"{PACKAGE}.extractors": _members(EXTRACTORS, _LISTS, ("EXTRACTOR_REGISTRY", "extractor")),
        f"{PACKAGE}.extractors.builtin": _members(EXTRACTORS, _LISTS),
        f"{PACKAGE}.extractors.utils": _members(_LISTS, _MESSAGES, _UNION, _STATE),
        f"{PACKAGE}.graders": _members(_GRADERS, FUNCTIONS, ("GRADER_REGISTRY", "grader")),
        f"{PACKAGE}.graders.base": _members(("Grader",)),
        f"{PACKAGE}.graders.builtin": _members(FUNCTIONS),
        f"{PACKAGE}.graders.tool": _members(("ToolGrader",)),
        f"{PACKAGE}.graders.rubric": _members(("RubricGrader",)),
        f"{PACKAGE}.graders.agent_judge": _members(("AgentJudgeGrader",)),
        f"{PACKAGE}.targets": _members(_TARGETS, _TARGET_ERROR),
        f"{PACKAGE}.targets.base": _members(("AbstractAgentTarget",)),
        f"{PACKAGE}.targets.errors": _members(_TARGET_ERROR),
        f"{PACKAGE}.targets.letta_agent": _members(("LettaAgentTarget",)),
        f"{PACKAGE}.targets.letta_code_target": _members(("LettaCodeTarget",)),
        f"{PACKAGE}.runner": _members(_RUNNER),
        f"{PACKAGE}.datasets": _members(_LOADERS),
        f"{PACKAGE}.datasets.loader": _members(_LOADERS),
        f"{PACKAGE}.visualization": _members(("ProgressStyle",), _PROGRESS),
        f"{PACKAGE}.visualization.factory": _members(("ProgressStyle", "create_progress_callback")),
    }
)
"""Names by module, each with the module that holds it."""
