"""Agents of the user's own that trials talk to: they get the model back that they had.

What they had stands on the server too, in the agent's metadata, and a tag says which run it was:
`regrade clean` gives the model back where a run was killed.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from harness.targets.letta_server import LettaServer, path_of
from harness.targets.letta_shapes import Lendable
from harness.types.errors import TargetError

_NOTE = "regrade_lent"
_TAG = "regrade-lent:"
_WITH_TAGS: Mapping[str, Any] = {"include": ["agent.tags"]}


class LentAgents:
    """Remembers which model each agent had when the run first used it.

    Without `run_id` it does so in this process alone.
    """

    def __init__(
        self, server: LettaServer, warn: Callable[[str], None], *, run_id: str = ""
    ) -> None:
        self._server = server
        self._warn = warn
        self._run_id = run_id
        self._configs: dict[str, Any] = {}
        self._turn = asyncio.Lock()

    async def note(self, agent_id: str) -> None:
        """Remember an agent's model, before the first trial changes it.

        Raises:
            TargetError: the server does not tell; `bad_request`, where another run has the agent.
        """
        # Two trials on one agent at once: the second would remember the model of the first.
        async with self._turn:
            if agent_id in self._configs:
                return
            state = await self._server.get(path_of("agents", agent_id), _WITH_TAGS, shape=Lendable)
            noted = _note_of(state)
            if noted is not None and noted["run"] != self._run_id:
                raise _lent_already(agent_id, str(noted["run"]))
            config = state["llm_config"] if noted is None else noted["llm_config"]
            if self._run_id:
                await self._write_note(agent_id, state, config)
            self._configs[agent_id] = config

    async def _write_note(self, agent_id: str, state: Mapping[str, Any], config: Any) -> None:
        note = {"run": self._run_id, "llm_config": config}
        body = {
            "metadata": {**(state.get("metadata") or {}), _NOTE: note},
            "tags": [*_own_tags(state), f"{_TAG}{self._run_id}"],
        }
        await self._server.patch(path_of("agents", agent_id), body)

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
                if self._run_id:
                    await _restore(self._server, agent_id, config)
                else:
                    body = {"llm_config": config}
                    await self._server.patch(path_of("agents", agent_id), body)
            except TargetError as error:
                self._warn(f"the agent {agent_id} keeps the model of its last trial: {error.line}")


async def give_back_lent(server: LettaServer, run_id: str) -> list[str]:
    """Give the agents that a run had their models back; return a line for each.

    Raises:
        TargetError: the server cannot be asked, or does not do it.
    """
    tag = f"{_TAG}{run_id}"
    query = {"tags": [tag], **_WITH_TAGS}
    agents = [one async for one in server.pages(path_of("agents", ""), query)]
    lines: list[str] = []
    for agent in agents:
        noted = _note_of(agent)
        if tag in (agent.get("tags") or ()) and noted is not None and noted["run"] == run_id:
            await _restore(server, agent["id"], noted["llm_config"])
            lines.append(f"the run's model of agent {agent['id']} ({agent.get('name')})")
    return lines


async def _restore(server: LettaServer, agent_id: str, config: Any) -> None:
    path = path_of("agents", agent_id)
    state = await server.get(path, _WITH_TAGS, shape=Lendable)
    metadata = {key: one for key, one in (state.get("metadata") or {}).items() if key != _NOTE}
    await server.patch(path, {"llm_config": config, "metadata": metadata, "tags": _own_tags(state)})


def _own_tags(state: Mapping[str, Any]) -> list[str]:
    return [tag for tag in state.get("tags") or () if not tag.startswith(_TAG)]


def _note_of(state: Mapping[str, Any]) -> Mapping[str, Any] | None:
    metadata = state.get("metadata")
    note = metadata.get(_NOTE) if isinstance(metadata, Mapping) else None
    is_whole = isinstance(note, Mapping) and {"run", "llm_config"} <= {*note}
    return note if is_whole else None


def _lent_already(agent_id: str, run_id: str) -> TargetError:
    return TargetError(
        f"the agent {agent_id} is in use by the run {run_id}, which has changed its model",
        code="bad_request",
        hint=f"where that run is over, `regrade clean {run_id}` gives the agent its model back",
    )
