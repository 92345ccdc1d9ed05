"""The target `openai`: a tool-calling agent over any OpenAI-compatible endpoint."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from harness.types.code import CodeFile
from harness.types.protocols import Connection, RunContext

_OURS = {
    "messages": "the conversation is the sample's",
    "model": "the models stand under target.models",
}


@dataclass(frozen=True, kw_only=True)
class OpenAIAgent:
    """Drives a model with tools through the Chat Completions API.

    `base_url` is by default that of the environment variable OPENAI_BASE_URL, else OpenAI's own;
    `api_key_env` names the variable that holds the key, which an endpoint on loopback needs not.
    `instructions` is the system message. `tools` is a Python file whose functions are the tools.
    `request` is passed to the API as it is (`temperature`, `stream`, ...); `tools` in it, such as
    those an endpoint runs itself, stand beside the functions. `max_steps` bounds the replies of
    the model in one turn.
    """

    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    instructions: str | None = field(default=None, metadata={"verbatim": True})
    tools: CodeFile | None = None
    request: dict[str, Any] = field(default_factory=dict)
    max_steps: int = 20

    def lint(self) -> Iterator[tuple[str, str]]:
        """Give (option, problem) for options that cannot work."""
        for key, why in _OURS.items():
            if key in self.request:
                yield "request", f"{key} cannot be set here: {why}"
        if self.request.get("n", 1) != 1:
            yield "request", "n must be 1: an agent goes on from one reply"
        if self.max_steps < 1:
            yield "max_steps", "must be at least 1"
        if self.tools is not None:
            # Schemas of tools are made by pydantic, which `regrade --help` goes without.
            from harness.targets.toolbox import lint_tools  # noqa: PLC0415

            yield from (("tools", problem) for problem in lint_tools(self.tools))

    @asynccontextmanager
    async def connect(self, run_context: RunContext) -> AsyncIterator[Connection]:
        """Connect once a run.

        Raises:
            SuiteError: a function of `tools` cannot be a tool.
        """
        # The SDK takes a good part of a second to import; `regrade --help` goes without it.
        from harness.targets.openai_connection import OpenAIConnection  # noqa: PLC0415

        connection = OpenAIConnection(self, run_context)
        try:
            yield connection
        finally:
            await connection.close()
