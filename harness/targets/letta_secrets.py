"""Secrets that an agent's tools have on the server: read, so that nothing stored holds them."""

from collections.abc import Mapping
from typing import Any

from harness.targets.letta_server import LettaServer, path_of
from harness.targets.letta_shapes import Secretive

SECRET_PART = "agent.secrets"  # noqa: S105  (the name of a part of an agent)


async def learn_secrets(server: LettaServer, agent_id: str) -> None:
    """Read the secrets of an agent that others gave it, and have the server's events hide them.

    Raises:
        TargetError: the server does not tell.
    """
    path = path_of("agents", agent_id)
    state = await server.get(path, {"include": [SECRET_PART]}, shape=Secretive)
    server.hide(secrets_in(state).values())


def secrets_in(state: Mapping[str, Any]) -> dict[str, str]:
    """Return the secrets of an agent that was asked for with them, by name."""
    found = state.get("secrets") or state.get("tool_exec_environment_variables") or ()
    return {str(one["key"]): str(one.get("value") or "") for one in found}
