"""Keys inside the options of an inline agent that no agent can be made with."""

import pytest

from harness.targets.letta_agent_keys import agent_key_problems

BLOCK = {"label": "human", "value": "Bo"}


@pytest.mark.parametrize(
    ("body", "problems"),
    [
        (
            {"memory_blocks": [BLOCK, {"lable": "human", "value": "x"}]},
            ['memory_blocks[1]: unknown key "lable"; did you mean "label"?',
             'memory_blocks[1]: "label" is missing'],
        ),
        ({"memory_blocks": [{**BLOCK, "limit": 9, "read_only": True}]}, []),
        ({"tool_rules": [{"type": "exit_lop", "tool_name": "x"}]},
         ['tool_rules[0]: unknown type "exit_lop"; did you mean "exit_loop"?']),
        ({"tool_rules": [{"type": "exit_loop", "tool_nam": "x"}]},
         ['tool_rules[0]: unknown key "tool_nam"; did you mean "tool_name"?',
          'tool_rules[0]: "tool_name" is missing']),
        ({"tool_rules": [{"tool_name": "x", "children": ["y"]}]}, []),
        ({"llm_config": {"model": "m", "model_endpoint_type": "openai", "context_windo": 1}},
         ['llm_config: unknown key "context_windo"; did you mean "context_window"?',
          'llm_config: "context_window" is missing']),
        ({"model_settings": {"provider_type": "openai", "temperatur": 1}},
         ['model_settings: unknown key "temperatur"; did you mean "temperature"?']),
        ({"initial_message_sequence": [{"role": "user", "content": "Hello."}]}, []),
        ({"metadata": {"any": 1}, "memory_variables": {"thing": "x"}, "tool_ids": ["tool-1"]}, []),
        ({"memory_blocks": ["no mapping"]}, []),
    ],
)  # fmt: skip
def test_unknown_keys_and_kinds_are_told_with_what_was_meant(body, problems):
    assert list(agent_key_problems(body)) == problems
