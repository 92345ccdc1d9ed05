"""Where errors come from: the agent, its endpoint, a grader, Regrade itself, or the suite."""

from collections.abc import Mapping
from types import MappingProxyType

from harness.types.explanations import Origin

_BY_ORIGIN: Mapping[Origin, tuple[str, ...]] = MappingProxyType(
    {
        "agent": ("turn_timeout", "trial_timeout", "agent_crash", "max_steps", "context_length"),
        "provider": (
            "rate_limited",
            "overloaded",
            "connection_refused",
            "unknown_host",
            "untrusted_certificate",
            "connection_lost",
            "stream_cut",
            "server_error",
            "bad_reply",
            "quota_exhausted",
            "bad_request",
            "unauthorized",
            "forbidden",
            "not_found",
            "content_filter",
            "judge_unreachable",
            "judge_refused",
        ),
        "grader": ("grader_broke", "grader_timeout", "pattern_timeout", "judge_reply"),
        "harness": ("target_broke", "interrupted", "grading_interrupted"),
        "suite": ("agent_contract", "fixture_broke", "judge_prompt"),
    }
)

ORIGINS: Mapping[str, Origin] = MappingProxyType(
    {code: origin for origin, codes in _BY_ORIGIN.items() for code in codes}
)
"""The origin of every code in the table of errors."""
