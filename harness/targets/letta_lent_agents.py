"""Agents of the user's own that trials talk to: they get the model back that they had."""

import asyncio
from collections.abc import Callable
from typing import Any

from harness.targets.letta_server import LettaServer, path_of
from harness.types.errors import TargetError


class LentAgents:
    """Remembers which model each agent had when the run first used it."""

    def __init__(self, server: LettaServer, warn: Callable[[str], None]) -> None:
        self._server = server
        self._warn = warn
        self._configs: dict[str, Any] = {}
        self._turn = asyncio.Lock()

    async def note(self, agent_id: str) -> None:
        """Remember an agent's model, before the first trial changes it.

        Raises:
            TargetError: the server does not tell.
        """
        # Two trials on one agent at once: the second would remember the model of the first.
        async with self._turn:
            if agent_id not in self._configs:
                state = await self._server.get(path_of("agents", agent_id))
                self._configs[agent_id] = state["llm_config"]

    def warn_of_factory(self, agent_id: str) -> None:
        """Warn that a factory has given an agent that it did not make."""
        self._warn(
            f"agent_script gave the agent {agent_id}, which it did not make with the client "
            "it received: the agent is not deleted, and trials on it share its memory"
        )

    async def give_back(self) -> None:
        """Give every agent its model back; a warning says which could not have it."""
        for agent_id, config in self._configs.items():
            try:
                await self._server.patch(path_of("agents", agent_id), {"llm_config": config})
            except TargetError as error:
                self._warn(f"the agent {agent_id} keeps the model of its last trial: {error.line}")
