"""Where the agent of a trial comes from: described in the suite, or imported from an agent file."""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from harness.targets.letta_clients import tagged
from harness.targets.letta_inline import InlineAgent
from harness.targets.letta_leftovers import Leftovers, MadeAgent
from harness.targets.letta_lent_agents import LentAgents
from harness.targets.letta_model_choice import model_settings
from harness.targets.letta_secrets import learn_secrets
from harness.targets.letta_server import LettaServer, path_of
from harness.targets.letta_server_tools import put_tools, server_tools
from harness.targets.letta_shapes import Thing
from harness.targets.letta_tags import run_tags
from harness.types.errors import TargetError
from harness.types.protocols import AttemptContext, RunContext
from harness.types.suites import SCRIPTED

_T = TypeVar("_T")
_TOOL_GONE = "Tools not found by id"

WITH_PARTS: Mapping[str, Any] = {
    "include": ["agent.blocks", "agent.sources", "agent.tags", "agent.tools"]
}
"""Asks for an agent with what belongs to it."""


@dataclass(frozen=True, slots=True)
class Workshop:
    """What agents are made with: a server, the run they are made for, and who deletes them.

    `lent` are the agents that are the user's own. `secrets` are values that the agents' tools
    receive as environment variables.
    """

    server: LettaServer
    run_context: RunContext
    leftovers: Leftovers
    lent: LentAgents
    secrets: Mapping[str, str]

    @property
    def tags(self) -> Sequence[str]:
        """Return the tags of what is made."""
        return run_tags(self.run_context.run_id)

    def settings(self, model: str) -> Mapping[str, Any]:
        """Return what makes an agent use a model; raises as `model_settings` does."""
        return model_settings(model, self.run_context.scripted_url)

    async def set_model(self, agent_id: str, model: str) -> dict[str, Any]:
        """Make an agent use a model; return its state."""
        path, settings = path_of("agents", agent_id), self.settings(model)
        if settings:
            state: dict[str, Any] = await self.server.patch(path, dict(settings), shape=Thing)
        else:
            state = await self.server.get(path, WITH_PARTS, shape=Thing)
        return state

    async def lend_model(self, agent_id: str, model: str) -> dict[str, Any]:
        """Make an agent of the user's own use a model until the run ends; return its state."""
        if self.settings(model):
            await self.lent.note(agent_id)
        return await self.set_model(agent_id, model)

    async def or_discarded(self, agent: MadeAgent, work: Awaitable[_T]) -> _T:
        """Await the rest of making an agent; where it fails, the agent goes again."""
        try:
            return await work
        except BaseException:
            await self.leftovers.discard(agent)
            raise


class AgentMaker(Protocol):
    """Makes the agents of a run, one a trial; `is_rehearsed` says that one is made beforehand."""

    is_rehearsed: bool

    async def prepare(self) -> None:
        """Do once what all agents need. Raises `TargetError`."""
        ...

    async def make(self, context: AttemptContext) -> MadeAgent:
        """Make an agent. Raises `TargetError`."""
        ...


class InlineMaker:
    """Makes agents as the suite describes them."""

    is_rehearsed = True

    def __init__(self, workshop: Workshop, agent: InlineAgent) -> None:
        self._workshop = workshop
        self._agent = agent
        self._tools = server_tools(agent.tools) if agent.tools is not None else []
        self._tool_ids: list[str] = []

    async def prepare(self) -> None:
        """Put the tools on the server.

        Raises:
            TargetError: a tool cannot be put there.
        """
        await self._put_tools()

    async def _put_tools(self) -> None:
        run_id = self._workshop.run_context.run_id
        self._tool_ids = await put_tools(self._workshop.server, self._tools, run_id)

    async def make(self, context: AttemptContext) -> MadeAgent:
        """Make an agent.

        Raises:
            TargetError: the server does not make it.
        """
        body = {**self._agent.body, **self._workshop.settings(context.model)}
        if context.model.startswith(SCRIPTED):
            body.pop("model", None)
        if not ("model" in body or "llm_config" in body):
            raise TargetError(
                "no model is named", code="bad_request", hint="set target.models or agent.model"
            )
        if self._workshop.secrets:
            body["secrets"] = dict(self._workshop.secrets)
        body = tagged(body, self._workshop.tags)
        try:
            state = await self._post(body)
        except TargetError as error:
            if not (self._tools and _TOOL_GONE in str(error)):
                raise
            # Another run that used the same tools has ended, and did not know of this one.
            await self._put_tools()
            state = await self._post(body)
        return made_agent(state, shared_blocks=self._agent.block_ids or ())

    async def _post(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        tool_ids = [*self._tool_ids, *(body.get("tool_ids") or ())]
        state: Mapping[str, Any] = await self._workshop.server.post(
            path_of("agents", ""), {**body, "tool_ids": tool_ids}, shape=Thing
        )
        return state


class FileMaker:
    """Makes agents by importing the same document again and again; `name` is what it is called.

    `owns_folders` says that the folders of an imported agent were made with it.
    """

    is_rehearsed = True

    def __init__(self, workshop: Workshop, data: bytes, *, name: str, owns_folders: bool) -> None:
        self._workshop = workshop
        self._data = data
        self._has_learnt = False
        self._name = name
        self._owns_folders = owns_folders

    async def prepare(self) -> None:
        """Do nothing: the document is at hand."""

    async def make(self, context: AttemptContext) -> MadeAgent:
        """Import an agent.

        Raises:
            TargetError: the server does not import it.
        """
        workshop = self._workshop
        [agent_id, *others] = await self._import()
        bare = MadeAgent(id=agent_id, others=tuple(others))
        state = await workshop.or_discarded(bare, self._finished(agent_id, context.model))
        return made_agent(state, owns_folders=self._owns_folders)

    async def _import(self) -> list[str]:
        workshop = self._workshop
        try:
            return await workshop.server.import_agent(self._data, workshop.secrets)
        except TargetError as error:
            if error.code not in {"bad_request", "not_found", "server_error"}:
                raise
            message = f"{self._name} cannot be imported: {error}"
            raise TargetError(message, code=error.code, hint=error.hint) from error

    async def _finished(self, agent_id: str, model: str) -> Mapping[str, Any]:
        if not self._has_learnt:
            # The document may hold secrets, which are those of every agent.
            await learn_secrets(self._workshop.server, agent_id)
            self._has_learnt = True
        return await self._workshop.set_model(agent_id, model)


def made_agent(
    state: Mapping[str, Any], *, shared_blocks: Sequence[str] = (), owns_folders: bool = False
) -> MadeAgent:
    """Return an agent that was made, from its state; `shared_blocks` were there before."""
    blocks = [str(block["id"]) for block in state.get("blocks") or ()]
    folders = [str(folder["id"]) for folder in state.get("sources") or ()] if owns_folders else []
    return MadeAgent(
        id=str(state["id"]),
        name=str(state.get("name") or ""),
        blocks=tuple(block for block in blocks if block not in shared_blocks),
        shared_blocks=tuple(shared_blocks),
        folders=tuple(folders),
        parallel=_parallel(state),
    )


def _parallel(state: Mapping[str, Any]) -> bool | None:
    config = state.get("llm_config")
    found = config.get("parallel_tool_calls") if isinstance(config, Mapping) else None
    return found if isinstance(found, bool) else None
