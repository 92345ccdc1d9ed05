"""Where errors come from."""

from harness.measuring.failure_origins import ORIGINS
from harness.types.errors import POLICIES


def test_every_code_of_the_table_of_errors_has_one_origin_and_nothing_else_has():
    assert sorted(ORIGINS) == sorted(POLICIES)


def test_what_counts_as_the_agents_failure_is_the_agents_doing():
    codes = [code for code, policy in POLICIES.items() if policy.counted == "failure"]
    assert {ORIGINS[code] for code in codes} == {"agent"}
