import pytest

from harness.shims import eval_kinds
from harness.shims.eval_kinds import TargetError


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("TargetKind", "agent letta_agent letta_code"),
        ("GraderKind", "tool rubric model_judge letta_judge"),
        ("MetricOp", "gt gte lt lte eq"),
        ("GateMetric", "avg_score accuracy"),
        ("Aggregation", "avg_score accuracy min max median p50 p95 p99"),
        ("GateKind", "simple weighted_average logical"),
        ("LogicalOp", "and or"),
        ("RewardKind", "metric custom"),
        ("LLMProvider", "openai anthropic google"),
        ("ErrorCategory", "target extraction grading reward unknown"),
    ],
)
def test_a_kind_has_the_words_of_the_yaml(kind, words):
    found = getattr(eval_kinds, kind)
    assert [member.value for member in found] == words.split()
    assert all(found(word) == word for word in words.split())


def test_an_error_of_a_target_carries_its_agent():
    error = TargetError("no answer", agent_id="agent-1", agent_usage=[{}])
    assert (str(error), error.agent_id, error.agent_usage) == ("no answer", "agent-1", [{}])
    assert error.partial_trajectory == []
