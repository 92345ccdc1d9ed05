"""The built-in graders and extractors by name, as the entry points of the package name them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from graders.model_judge import ModelJudge
from graders.search_extractors import AfterMarker, Pattern
from graders.state_extractors import MemoryBlock
from graders.text_extractors import AllAssistant, FirstAssistant, LastAssistant, LastTurn
from graders.text_graders import AsciiPrintableOnly, Contains, ExactMatch, RegexMatch
from graders.tool_extractors import ToolArguments, ToolOutput
from graders.tool_output_echo import AssistantContainsToolOutput
from graders.trajectory_catalogue import TRAJECTORY_GRADERS

GRADERS: Mapping[str, type[Any]] = MappingProxyType(
    {
        "exact_match": ExactMatch,
        "contains": Contains,
        "regex_match": RegexMatch,
        "ascii_printable_only": AsciiPrintableOnly,
        "assistant-contains-tool-output": AssistantContainsToolOutput,
        "model_judge": ModelJudge,
        **TRAJECTORY_GRADERS,
    }
)
"""Graders: a name -> a frozen dataclass whose fields are the options."""

EXTRACTORS: Mapping[str, type[Any]] = MappingProxyType(
    {
        "last_assistant": LastAssistant,
        "first_assistant": FirstAssistant,
        "all_assistant": AllAssistant,
        "last_turn": LastTurn,
        "pattern": Pattern,
        "tool_arguments": ToolArguments,
        "tool_output": ToolOutput,
        "after_marker": AfterMarker,
        "memory_block": MemoryBlock,
    }
)
"""Extractors: a name -> a frozen dataclass whose fields are the options."""
