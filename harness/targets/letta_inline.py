"""An agent that the suite itself describes: the options under `target.agent`."""

from dataclasses import dataclass, fields
from typing import Any

from harness.types.code import CodeFile

DEFAULT = "default"
"""The name of a trial's model where the suite names none: the agent's own."""


@dataclass(frozen=True, kw_only=True)
class InlineAgent:
    """What a new agent is made with; everything but `tools` is passed to the server as it is.

    `tools` is a Python file whose public functions become tools on the server, `server_tools` are
    names of tools that are there already. What is left out is what the server makes of it: base
    tools, for one, are included.
    """

    model: str | None = None
    system: str | None = None
    memory_blocks: list[dict[str, Any]] | None = None
    tools: CodeFile | None = None
    server_tools: list[str] | None = None
    tool_ids: list[str] | None = None
    tool_rules: list[dict[str, Any]] | None = None
    include_base_tools: bool | None = None
    include_base_tool_rules: bool | None = None
    embedding: str | None = None
    embedding_chunk_size: int | None = None
    embedding_config: dict[str, Any] | None = None
    agent_type: str | None = None
    block_ids: list[str] | None = None
    compaction_settings: dict[str, Any] | None = None
    context_window_limit: int | None = None
    description: str | None = None
    enable_reasoner: bool | None = None
    enable_sleeptime: bool | None = None
    folder_ids: list[str] | None = None
    hidden: bool | None = None
    identity_ids: list[str] | None = None
    initial_message_sequence: list[dict[str, Any]] | None = None
    llm_config: dict[str, Any] | None = None
    max_files_open: int | None = None
    max_reasoning_tokens: int | None = None
    max_tokens: int | None = None
    memory_variables: dict[str, str] | None = None
    message_buffer_autoclear: bool | None = None
    metadata: dict[str, Any] | None = None
    model_settings: dict[str, Any] | None = None
    name: str | None = None
    parallel_tool_calls: bool | None = None
    per_file_view_window_char_limit: int | None = None
    reasoning: bool | None = None
    response_format: dict[str, Any] | None = None
    timezone: str | None = None

    @property
    def has_model(self) -> bool:
        """Say whether the agent has a model of its own."""
        return self.model is not None or self.llm_config is not None

    @property
    def is_nested(self) -> bool:
        """Say whether any option holds options of its own."""
        lists = (value if isinstance(value, list) else [value] for value in self.body.values())
        return any(isinstance(entry, dict) for entries in lists for entry in entries)

    @property
    def body(self) -> dict[str, Any]:
        """Return the body of the request that makes the agent, without its tools of `tools`."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        kept = {
            name: value
            for name, value in given.items()
            if value is not None and name not in {"tools", "server_tools"}
        }
        return kept if self.server_tools is None else {**kept, "tools": self.server_tools}
