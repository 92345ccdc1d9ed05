"""The target `openai`: a tool-calling agent over any OpenAI-compatible endpoint."""

import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

from harness.endpoints.keys import find_key
from harness.types.code import CodeFile
from harness.types.errors import Fault, TargetError
from harness.types.protocols import Connection, RunContext
from harness.types.suites import SCRIPTED

_OURS = {
    "messages": "the conversation is the sample's",
    "model": "the models are listed under target.models",
}


@dataclass(frozen=True, kw_only=True)
class OpenAIAgent:
    """Drives a model with tools through the Chat Completions API.

    The model is asked, the tools that it calls are run, and it is asked again with their results,
    until a reply calls no tool: that ends the turn.
    """

    needs_models: ClassVar[bool] = True

    base_url: str | None = field(
        default=None,
        metadata={
            "description": "Address of the API, such as http://127.0.0.1:8000/v1. By default that "
            "of the environment variable OPENAI_BASE_URL, else OpenAI's own.",
            "pattern": "^https?://.",
        },
    )
    api_key_env: str = field(
        default="OPENAI_API_KEY",
        metadata={
            "description": "Name of the environment variable that holds the key. An endpoint on "
            "loopback needs none."
        },
    )
    instructions: str | None = field(
        default=None, metadata={"verbatim": True, "description": "Text of the system message."}
    )
    tools: CodeFile | None = field(
        default=None,
        metadata={
            "description": "Python file whose public functions are the tools. Their schemas come "
            "from signatures and docstrings; a parameter named like a fixture receives its object."
        },
    )
    request: dict[str, Any] = field(
        default_factory=dict,
        metadata={
            "description": "Passed to the API as it is, such as `temperature` or `stream`. "
            "`tools` in it, such as those an endpoint runs itself, are added to the functions."
        },
    )
    max_steps: int = field(
        default=20,
        metadata={"ge": 1, "description": "How many replies of the model one turn may take."},
    )

    def lint(self) -> Iterator[tuple[str, str]]:
        """Yield (option, problem) for options that cannot work."""
        for key, why in _OURS.items():
            if key in self.request:
                yield "request", f"{key} cannot be set here: {why}"
        if self.request.get("n", 1) != 1:
            yield "request", "n must be 1: an agent goes on from one reply"

    def lint_keys(self, models: Sequence[str], /) -> Iterator[tuple[str, str]]:
        """Yield that there is no key, where a model needs one."""
        if all(model.startswith(SCRIPTED) for model in models):
            return
        try:
            find_key((self.api_key_env,), url=self.url, option="target.api_key_env")
        except TargetError as error:
            yield "api_key_env", error.line

    @property
    def url(self) -> str | None:
        """Return the address of the API; None for OpenAI's own."""
        return self.base_url or os.environ.get("OPENAI_BASE_URL") or None

    def check(self, fixture_names: frozenset[str]) -> Iterator[Fault]:
        """Yield what keeps functions of `tools` from being tools, each fault at its line."""
        if self.tools is not None:
            # Schemas of tools are made by pydantic, which `regrade --help` goes without.
            from harness.targets.toolbox import tool_faults  # noqa: PLC0415

            yield from tool_faults(self.tools, fixture_names)

    @asynccontextmanager
    async def connect(self, run_context: RunContext) -> AsyncIterator[Connection]:
        """Connect once a run.

        Raises:
            SuiteError: with the faults that `check` finds.
            TargetError: `unauthorized`, where no model of the run can be asked without a key.
        """
        # The SDK takes a good part of a second to import; `regrade --help` goes without it.
        from harness.targets.openai_connection import OpenAIConnection  # noqa: PLC0415

        connection = OpenAIConnection(self, run_context)
        connection.require_key()
        try:
            yield connection
        finally:
            await connection.close()
