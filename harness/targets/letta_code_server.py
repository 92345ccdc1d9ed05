"""The agents of Letta Code that live on a server: made by a factory, read, deleted.

Letta Code makes its agents with the tags of the run, so that they can be found when the run was
killed.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, cast

from letta_client import AsyncLetta

from harness.shims.agent_functions import set_up, takes_model
from harness.system.time_limits import limited
from harness.targets.letta_addresses import base_url_of, key_hint, key_of
from harness.targets.letta_clients import FactoryClient, make_client
from harness.targets.letta_code import LettaCode
from harness.targets.letta_factories import call_factory
from harness.targets.letta_leftovers import Leftovers, MadeAgent, delete_run
from harness.targets.letta_lent_agents import LentAgents
from harness.targets.letta_model_choice import check_models
from harness.targets.letta_server import LettaServer, path_of
from harness.targets.letta_tags import run_tags
from harness.types.code import CodeRef
from harness.types.errors import TargetError
from harness.types.protocols import RunContext
from harness.types.samples import Sample

_CLAIM_SECONDS = 1.5  # with what a deletion is waited for, less than an agent may take to close


class CodeServer:
    """A server as this target uses it, beside the command.

    `needs_key` is whether agents will live there: without, it is made for a setup to look at.
    """

    def __init__(self, agent: LettaCode, run_context: RunContext, *, needs_key: bool) -> None:
        self.url = base_url_of(agent.base_url)
        self.key = _key(agent, self.url, needs_key=needs_key)
        self.keeps_agents = agent.keep_agents
        make = partial(
            make_client,
            url=self.url,
            key=self.key,
            project=agent.project_id,
            concurrency=run_context.concurrency,
        )
        # What a setup makes is not of one trial, so it bears no tags and stays.
        self._client = make(AsyncLetta)
        self._factory_client = cast("FactoryClient", make(FactoryClient))
        self._run_id = run_context.run_id
        self._factory_client.agent_tags = run_tags(self._run_id)
        hint = key_hint(key=agent.api_key, variable=agent.api_key_env)
        self._server = LettaServer(self._client, (self.key,) if self.key else (), key_hint=hint)
        self._leftovers = Leftovers(self._server, run_context.run_id, run_context.warn)
        self._lent = LentAgents(self._server, run_context.warn)

    async def check(self, models: Sequence[str]) -> None:
        """Find before any trial that the server is down, or does not know a model.

        Names without a provider are the command's own, which alone knows what they stand for.

        Raises:
            TargetError: as `check_models` says.
        """
        if models:
            await check_models(self._server, [model for model in models if "/" in model])

    async def set_up(self, ref: CodeRef, models: Sequence[str]) -> None:
        """Call the suite's setup, for every model where it takes one.

        Raises:
            TargetError: it failed.
        """
        for model in models if takes_model(ref) else models[:1]:
            await set_up(ref, self._client, model)

    async def make_agent(self, ref: CodeRef, sample: Sample) -> MadeAgent:
        """Let a factory make an agent; what it made stands in it.

        One that it did not make has its model back when the run ends: the command sets another.

        Raises:
            TargetError: it failed; what it had made by then is deleted.
        """
        agent = await call_factory(ref, self._factory_client, sample, self.discard)
        if not agent.is_ours:
            self._lent.warn_of_factory(agent.id)
            await self._lent.note(agent.id)
        return agent

    async def blocks(self, agent_id: str) -> list[Any]:
        """Return the memory blocks of an agent.

        Raises:
            TargetError: the server does not tell them.
        """
        state = await self._server.get(path_of("agents", agent_id), {"include": ["agent.blocks"]})
        return list(state.get("blocks") or ())

    async def discard(self, agent: MadeAgent) -> None:
        """Delete an agent that is ours, and what was made with it."""
        if not self.keeps_agents:
            await self._leftovers.discard(agent)

    async def discard_made(self, agent_id: str) -> None:
        """Delete an agent that the command has made, and its memory blocks."""
        if self.keeps_agents:
            return
        blocks: list[str] = []
        with suppress(TargetError, TimeoutError):
            await limited(self._claim_blocks(agent_id, blocks), _CLAIM_SECONDS)
        await self._leftovers.discard(MadeAgent(id=agent_id, blocks=tuple(blocks)))

    async def _claim_blocks(self, agent_id: str, claimed: list[str]) -> None:
        """Tag the blocks that no other agent has, as the command does not: a sweep finds them."""
        for block in await self.blocks(agent_id):
            path = path_of("blocks", block["id"])
            if len(await self._server.get(f"{path}/agents")) == 1:
                tags = [*(block.get("tags") or ()), *run_tags(self._run_id)]
                await self._server.patch(path, {"tags": tags})
                claimed.append(block["id"])

    async def close(self) -> None:
        """Delete what is left of the run, and close the connections."""
        try:
            await self._lent.give_back()
            await self._leftovers.sweep(everything=not self.keeps_agents)
        finally:
            await self._close()

    async def clean(self, run_id: str) -> list[str]:
        """Delete what a run left on the server.

        Raises:
            TargetError: the server does not do it.
        """
        try:
            return await delete_run(self._server, run_id, tools=False)
        finally:
            await self._close()

    async def _close(self) -> None:
        await self._server.close()
        await self._factory_client.close()


async def clean_server(agent: LettaCode, run_id: str) -> list[str]:
    """Delete what a run left on its server, and nothing else.

    Raises:
        TargetError: the server cannot be asked.
    """
    run_context = RunContext(
        scripted_url=None, fixture_names=frozenset(), concurrency=1, run_id=run_id
    )
    return await CodeServer(agent, run_context, needs_key=True).clean(run_id)


def _key(agent: LettaCode, url: str, *, needs_key: bool) -> str | None:
    if needs_key:
        return key_of(url, key=agent.api_key, variable=agent.api_key_env)
    return agent.api_key or os.environ.get(agent.api_key_env, "").strip() or None
