"""The built-in importers by name; a source is read by the first that claims it."""

from collections.abc import Mapping
from types import MappingProxyType

from harness.importers.anthropic import Anthropic
from harness.importers.atif import Atif
from harness.importers.claude_code import ClaudeCode
from harness.importers.codex import Codex
from harness.importers.gemini import Gemini
from harness.importers.inspect_logs import InspectLogs
from harness.importers.langchain import LangChain
from harness.importers.letta import LettaMessages
from harness.importers.letta_evals import LettaEvals
from harness.importers.mcp import MCP
from harness.importers.openai_agents import OpenAIAgents
from harness.importers.openai_chat import OpenAIChat
from harness.importers.openai_responses import OpenAIResponses
from harness.importers.openhands import OpenHands
from harness.importers.otel import OpenTelemetry
from harness.importers.pydantic_ai import PydanticAI
from harness.importers.regrade_trials import RegradeTrials
from harness.importers.stream import RecordedStream
from harness.importers.swe_agent import SweAgent
from harness.importers.tau import Tau
from harness.importers.vally import Vally
from harness.types.imports import Importer

IMPORTERS: Mapping[str, type[Importer]] = MappingProxyType(
    {
        "regrade": RegradeTrials,
        "letta-evals": LettaEvals,
        "letta": LettaMessages,
        "vally": Vally,
        "atif": Atif,
        "inspect": InspectLogs,
        "gemini": Gemini,
        "mcp": MCP,
        "langchain": LangChain,
        "pydantic-ai": PydanticAI,
        "openai-agents": OpenAIAgents,
        "tau": Tau,
        "claude-code": ClaudeCode,
        "codex": Codex,
        "otel": OpenTelemetry,
        "openhands": OpenHands,
        "swe-agent": SweAgent,
        "anthropic": Anthropic,
        "openai-responses": OpenAIResponses,
        "stream": RecordedStream,
        "openai-chat": OpenAIChat,
    }
)
"""In the order in which they are asked: the more particular a shape, the earlier."""
