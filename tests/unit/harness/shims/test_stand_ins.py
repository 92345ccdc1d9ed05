import importlib

import pytest

from harness.shims.letta_evals_modules import offer_letta_evals
from harness.shims.stand_ins import MODULES

OF_0_26 = (
    "agent_factory extractor grader suite_setup reward_composer RewardOutput RewardContext "
    "GradeResult PerTurnGrade Sample SampleResult SuiteSpec GraderSpec TargetResult TurnTokenData "
    "RunnerResult Runner run_suite Grader ToolGrader RubricGrader LettaCodeTarget TargetError "
    "AgentState LettaMessageUnion Error ErrorCategory ErrorSummary Usage Timing TimingStats "
    "Summary ModelSummary ModelRun PerRunSummary MetricRewardSpec CustomRewardSpec RewardSpec "
    "RewardKind GraderKind LLMProvider ProgressStyle create_progress_callback"
)
OF_OLDER = (
    "GateSpec TargetSpec AbstractAgentTarget LettaAgentTarget AgentJudgeGrader Metrics "
    "ModelMetrics MetricAggregate RunStatistics TargetKind MetricOp GateMetric Aggregation "
    "GateKind LogicalOp ErrorInfo"
)
PLACES = [
    ("letta_evals", OF_0_26),
    ("letta_evals", OF_OLDER),
    (
        "letta_evals.decorators",
        (
            "agent_factory extractor grader suite_setup reward_composer GRADER_REGISTRY "
            "EXTRACTOR_REGISTRY"
        ),
    ),
    ("letta_evals.models", "Sample GradeResult LettaMessageUnion AgentState RewardOutput Usage"),
    ("letta_evals.types", "GraderKind MetricOp TargetKind ErrorCategory"),
    (
        "letta_evals.extractors.utils",
        (
            "flatten_content get_assistant_messages get_tool_calls get_messages_by_type "
            "get_last_turn_messages"
        ),
    ),
    (
        "letta_evals.extractors.builtin",
        (
            "last_assistant first_assistant all_assistant last_turn pattern tool_arguments "
            "tool_output after_marker memory_block"
        ),
    ),
    ("letta_evals.graders.builtin", "exact_match contains regex_match ascii_printable_only"),
]


@pytest.mark.parametrize(("module", "names"), PLACES)
def test_the_names_that_users_import_are_there(module, names):
    offer_letta_evals()
    found = importlib.import_module(module)
    assert [name for name in names.split() if getattr(found, name, None) is None] == []


def test_every_name_resolves_and_is_the_same_wherever_it_is_imported_from():
    offer_letta_evals()
    found = {}
    for module, members in MODULES.items():
        for name in members:
            value = getattr(importlib.import_module(module), name)
            assert found.setdefault(name, value) is value
