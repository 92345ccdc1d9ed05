"""Agents made by the user's own function, `async (client, sample) -> agent id`."""

from typing import Any

from letta_client import AsyncLetta

from harness.endpoints.failures import failure
from harness.shims.agent_functions import sample_for
from harness.system.texts import error_line
from harness.system.user_calls import UserCodeError, caller_of
from harness.targets.letta_clients import MadeAgents
from harness.targets.letta_failures import letta_failure
from harness.targets.letta_leftovers import MadeAgent
from harness.targets.letta_makers import WITH_PARTS, Workshop, made_agent
from harness.targets.letta_server import path_of
from harness.types.code import CodeRef
from harness.types.errors import TargetError
from harness.types.protocols import AttemptContext


async def call_script(
    script: CodeRef, option: str, arguments: tuple[Any, ...], secrets: tuple[str, ...]
) -> Any:
    """Call a function of the suite; what it raises is an outage of the server, or its own fault.

    Raises:
        TargetError: it raised; `fixture_broke` where that was its own fault.
    """
    try:
        return await caller_of(script.value)(*arguments)
    except UserCodeError as raised:
        error = raised.error
        known = letta_failure(error, secrets=secrets) if isinstance(error, Exception) else None
        message = f"{option} {script.text} raised {error_line(error)}"
        code = known.code if known else "fixture_broke"
        raise failure(message, code=code, secrets=secrets) from error


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
        secrets = tuple(self._workshop.server.secrets)
        arguments = (self._client, sample_for(self._script, context.sample))
        with MadeAgents() as made:
            try:
                given = await call_script(self._script, "agent_script", arguments, secrets)
                agent_id = self._checked(given)
            except BaseException:
                await self._workshop.leftovers.discard(MadeAgent(id="", others=tuple(made.ids)))
                raise
        others = tuple(one for one in made.ids if one != agent_id)
        ours = MadeAgent(id=agent_id, others=others, is_ours=agent_id in made.ids)
        return await self._workshop.or_discarded(ours, self._finished(ours, context.model))

    def _checked(self, given: Any) -> str:
        if isinstance(given, str) and given:
            return given
        found = "None" if given is None else f"a value of type {type(given).__name__}"
        raise TargetError(
            f"agent_script {self._script.text} returned {found}",
            code="fixture_broke",
            hint="return the id of an agent, such as `agent.id`",
        )

    async def _finished(self, agent: MadeAgent, model: str) -> MadeAgent:
        """Tag the agents that came without our tags, and give the agent its model."""
        server, workshop = self._workshop.server, self._workshop
        for one in (agent.id, *agent.others) if agent.is_ours else agent.others:
            tags = (await server.get(path_of("agents", one), WITH_PARTS)).get("tags") or []
            if not {*workshop.tags} <= {*tags}:
                await server.patch(path_of("agents", one), {"tags": [*tags, *workshop.tags]})
        if not agent.is_ours:
            workshop.run_context.warn(
                f"agent_script gave the agent {agent.id}, which it did not make with the client "
                "it received: the agent is not deleted, and trials on it share its memory"
            )
        state = made_agent(await workshop.set_model(agent.id, model))
        return MadeAgent(
            id=agent.id,
            name=state.name,
            others=agent.others,
            is_ours=agent.is_ours,
            parallel=state.parallel,
        )
