"""The built-in targets, by the name that a suite gives as `kind` under `target`."""

from collections.abc import Mapping
from types import MappingProxyType

from harness.targets.command_agent import CommandAgent
from harness.targets.http_agent import HttpAgent
from harness.targets.letta_agent import LettaAgent
from harness.targets.letta_code import LettaCode
from harness.targets.openai_agent import OpenAIAgent
from harness.targets.python_agent import PythonAgent

TARGETS: Mapping[str, type] = MappingProxyType(
    {
        "command": CommandAgent,
        "http": HttpAgent,
        "letta": LettaAgent,
        "letta_code": LettaCode,
        "openai": OpenAIAgent,
        "python": PythonAgent,
    }
)
"""Each is a frozen dataclass whose fields are its options."""
