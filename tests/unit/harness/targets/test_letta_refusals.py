"""What a Letta server says of a request of the wrong form becomes a line."""

import pytest

from harness.targets.letta_refusals import refused_fields

MISSING = (
    "{'type': 'missing', 'loc': ('body', 'memory_blocks', 0, 'label'), 'msg': 'Field required', "
)
MISSING += "'input': {'lable': 'human'}}"
FIRST = "memory_blocks.0.label: Field required"
ID = "agent_id: String should match pattern 'agent-{uuid4}'"
PATTERN = (
    "{'type': 'string_pattern_mismatch', 'loc': ('path', 'agent_id'), "
    "'msg': \"String should match pattern 'agent-{uuid4}'\", 'input': 'nonsense'}"
)
KIND = (
    "{'type': 'union_tag_invalid', 'loc': ('body', 'tool_rules', 1), 'msg': \"Input tag 'x' does "
    "not match: <ToolRuleType.exit_loop: 'exit_loop'>, <ToolRuleType.run_first: 'run_first'>\"}"
)


@pytest.mark.parametrize(
    ("detail", "line"),
    [
        (f"[{MISSING}]", "memory_blocks.0.label: Field required"),
        (f"[{PATTERN}]", "agent_id: String should match pattern 'agent-{uuid4}'"),
        (f"[{KIND}]", "tool_rules.1: Input tag 'x' does not match: 'exit_loop', 'run_first'"),
        (
            f"[{', '.join([MISSING, PATTERN] * 3)}]",
            f"{FIRST}; {ID}; {FIRST}; and 3 more",
        ),
        ([{"loc": ["body", "name"], "msg": "too long"}], "name: too long"),
        ([{"loc": ["body"], "msg": "no JSON"}], "no JSON"),
        ("[{'type': 'json_invalid', 'loc': ('body', 5), 'msg': 'It\\'s none'}]", "5: It's none"),
        ("Agent with ID agent-1 not found", ""),
        ("[{'odd': 1}]", ""),
        (["odd", {"loc": 3, "msg": "m"}, {"loc": ["a"]}], ""),
        ({"code": "PENDING_APPROVAL"}, ""),
        (None, ""),
    ],
)
def test_the_first_refused_fields_are_told_with_what_is_wrong(detail, line):
    assert refused_fields(detail) == line
