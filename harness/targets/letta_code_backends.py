"""Where the agents of Letta Code live for a model, and what the command calls the model there."""

import os
from collections.abc import Sequence

from harness.endpoints.keys import find_key
from harness.targets.letta_code import Backend, LettaCode
from harness.types.errors import TargetError
from harness.types.suites import SCRIPTED

PROVIDER = "openai-compatible"
"""What Letta Code calls an endpoint connected by its address; the names of its models begin so."""


def backend_of(agent: LettaCode, model: str) -> Backend:
    """Return the backend that the suite names, or that its options and the environment ask for."""
    if agent.backend is not None:
        return agent.backend
    if agent.base_url is not None or agent.agent_script is not None:
        return "server"
    if model.startswith((SCRIPTED, f"{PROVIDER}/")):
        # Only the local backend knows these.
        return "local"
    key = agent.api_key or os.environ.get(agent.api_key_env, "").strip()
    return "server" if key or os.environ.get("LETTA_BASE_URL") else "local"


def model_arguments(agent: LettaCode, model: str) -> list[str]:
    """Return the arguments that choose a model.

    Raises:
        TargetError: `not_found`, for a scripted model on a server, which knows models of its own.
    """
    if not model.startswith(SCRIPTED):
        return ["--model", model]
    if backend_of(agent, model) == "local":
        return ["--model", f"{PROVIDER}/{model}"]
    raise TargetError(
        f"{model} is served to the local backend only",
        code="not_found",
        hint="set target.backend: local, or name a model as the server calls it",
    )


def who_arguments(
    agent_id: str | None, conversation_id: str | None, tags: Sequence[str]
) -> list[str]:
    """Return the arguments that say who answers: in a conversation, an agent, or a new agent."""
    if conversation_id is not None:
        return ["--conversation", conversation_id]
    if agent_id is not None:
        return ["--agent", agent_id]
    return ["--new-agent", *(["--tags", ",".join(tags)] if tags else [])]


def provider_key(agent: LettaCode) -> str | None:
    """Return the key of the connected endpoint; None where there is no such, or it needs none.

    Raises:
        TargetError: `unauthorized`, where its variable is not set.
    """
    provider = agent.provider
    if provider is None or provider.api_key_env is None:
        return None
    name, option = provider.api_key_env, "target.provider.api_key_env"
    return find_key((name,), url=provider.base_url, option=option)
