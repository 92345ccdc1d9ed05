"""Agents made by the user's own function, `async (client, sample) -> agent id`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from letta_client import AsyncLetta

from harness.shims.agent_functions import make_agent
from harness.targets.letta_clients import MadeAgents
from harness.targets.letta_leftovers import MadeAgent
from harness.targets.letta_makers import Workshop, made_agent
from harness.targets.letta_marking import mark_agent
from harness.targets.letta_secrets import learn_secrets
from harness.types.code import CodeRef
from harness.types.protocols import AttemptContext
from harness.types.samples import Sample


async def call_factory(
    script: CodeRef,
    client: AsyncLetta,
    sample: Sample,
    discard: Callable[[MadeAgent], Awaitable[None]],
) -> MadeAgent:
    """Let a function make an agent; `others` are further agents that it made with the client.

    Raises:
        TargetError: it raised, or returned no id of an agent; what it had made is discarded.
    """
    with MadeAgents() as made:
        try:
            agent_id = await make_agent(script, client, sample)
        except BaseException:
            await discard(MadeAgent(id="", others=tuple(made.ids), is_ours=False))
            raise
    others = tuple(one for one in made.ids if one != agent_id)
    return MadeAgent(id=agent_id, others=others, is_ours=agent_id in made.ids)


class FactoryMaker:
    """Calls the function once an attempt; the agents that it made are deleted after the trial.

    An agent that it did not make with the client it was given is left alone.
    """

    is_rehearsed = False

    def __init__(self, workshop: Workshop, script: CodeRef, client: AsyncLetta) -> None:
        self._workshop = workshop
        self._script = script
        self._client = client

    async def prepare(self) -> None:
        """Do nothing: agents depend on their sample."""

    async def make(self, context: AttemptContext) -> MadeAgent:
        """Make an agent for a sample.

        Raises:
            TargetError: the function raised, or returned no id of an agent.
        """
        workshop = self._workshop
        discard = workshop.leftovers.discard
        agent = await call_factory(self._script, self._client, context.sample, discard)
        return await workshop.or_discarded(agent, self._finished(agent, context.model))

    async def _finished(self, agent: MadeAgent, model: str) -> MadeAgent:
        """Tag the agents that came without our tags, and give the agent its model."""
        server, workshop = self._workshop.server, self._workshop
        for one in (agent.id, *agent.others) if agent.is_ours else agent.others:
            await mark_agent(server, one, workshop.tags)
        await learn_secrets(server, agent.id)
        if agent.is_ours:
            found = await workshop.set_model(agent.id, model)
            state = made_agent(found, shared_blocks=_untagged_blocks(found, workshop.tags))
        else:
            workshop.lent.warn_of_factory(agent.id)
            state = replace(made_agent(await workshop.lend_model(agent.id, model)), blocks=())
        return replace(state, others=agent.others, is_ours=agent.is_ours)


def _untagged_blocks(state: Mapping[str, Any], tags: Sequence[str]) -> list[str]:
    """Return the blocks that the function has given the agent, but did not make with it."""
    blocks = state.get("blocks") or ()
    return [str(one["id"]) for one in blocks if not {*tags} <= {*(one.get("tags") or ())}]
