"""What the trials of a run share of the target `letta`: a server, and where agents come from."""

from collections.abc import Awaitable, Callable, Sequence
from typing import NoReturn

from letta_client import AsyncLetta

from harness.endpoints.resending import resend
from harness.shims.agent_functions import set_up, takes_model
from harness.targets.letta_addresses import base_url_of, key_hint, key_of
from harness.targets.letta_agent import LettaAgent
from harness.targets.letta_clients import FactoryClient, make_client
from harness.targets.letta_clones import CloneMaker, ExistingMaker
from harness.targets.letta_factories import FactoryMaker
from harness.targets.letta_faults import agent_faults
from harness.targets.letta_files import importable, read_agent_file
from harness.targets.letta_inline import DEFAULT
from harness.targets.letta_leftovers import Leftovers, MadeAgent, delete_run
from harness.targets.letta_lent_agents import LentAgents, give_back_lent
from harness.targets.letta_makers import AgentMaker, FileMaker, InlineMaker, Workshop
from harness.targets.letta_model_choice import check_models
from harness.targets.letta_server import LettaServer
from harness.targets.letta_session import LettaSession
from harness.targets.letta_tags import run_tags
from harness.targets.letta_turn_taking import Manners
from harness.targets.toolbox import Toolbox, build_toolbox
from harness.types.errors import SuiteError, TargetError
from harness.types.protocols import AttemptContext, RunContext, Session
from harness.types.samples import Sample


def make_server(agent: LettaAgent, *, concurrency: int) -> LettaServer:
    """Make the server that the options name; its maker closes it.

    Raises:
        TargetError: there is no key, or the address is none.
    """
    url = base_url_of(agent.base_url)
    key = key_of(url, key=agent.api_key, variable=agent.api_key_env)
    client = make_client(
        AsyncLetta, url=url, key=key, project=agent.project_id, concurrency=concurrency
    )
    hint = key_hint(key=agent.api_key, variable=agent.api_key_env)
    return LettaServer(client, secrets_of(agent, key), key_hint=hint)


def secrets_of(agent: LettaAgent, key: str | None) -> tuple[str, ...]:
    """Return the values that no message may hold."""
    return (*((key,) if key else ()), *agent.secrets.values())


class LettaConnection:
    """Opens sessions, each with an agent of its own."""

    def __init__(self, agent: LettaAgent, run_context: RunContext) -> None:
        if faults := list(agent_faults(agent, run_context.fixture_names)):
            raise SuiteError(faults)
        self._agent = agent
        self._run_context = run_context
        self._server = make_server(agent, concurrency=run_context.concurrency)
        self._leftovers = Leftovers(self._server, run_context.run_id, run_context.warn)
        self._lent = LentAgents(self._server, run_context.warn, run_id=run_context.run_id)
        self._clients: list[AsyncLetta] = []
        self._maker = self._make_maker()
        self._manners = self._make_manners()
        self._may_have_made = False

    def _make_maker(self) -> AgentMaker:
        agent = self._agent
        workshop = Workshop(
            self._server, self._run_context, self._leftovers, self._lent, agent.secrets
        )
        if agent.agent is not None:
            return InlineMaker(workshop, agent.agent)
        if agent.agent_file is not None:
            document = read_agent_file(agent.agent_file)
            data = importable(document, workshop.tags)
            owns_folders = bool(document.get("sources"))
            name = f"the agent file {agent.agent_file.text}"
            return FileMaker(workshop, data, name=name, owns_folders=owns_folders)
        if agent.agent_script is not None:
            return FactoryMaker(workshop, agent.agent_script, self._client(FactoryClient))
        existing = ExistingMaker if agent.in_place else CloneMaker
        return existing(workshop, agent.agent_id or "")

    def _client(self, kind: type[AsyncLetta]) -> AsyncLetta:
        """Make a client for the user's functions."""
        agent, url = self._agent, base_url_of(self._agent.base_url)
        key = key_of(url, key=agent.api_key, variable=agent.api_key_env)
        concurrency = self._run_context.concurrency
        client = make_client(
            kind, url=url, key=key, project=agent.project_id, concurrency=concurrency
        )
        if isinstance(client, FactoryClient):
            client.agent_tags = run_tags(self._run_context.run_id)
        self._clients.append(client)
        return client

    def _make_manners(self) -> Manners:
        agent, tools = self._agent, self._agent.client_tools
        names = self._run_context.fixture_names
        toolbox: Toolbox = {} if tools is None else build_toolbox(tools, names)
        return Manners(
            stream=agent.stream,
            approvals=agent.approvals,
            max_steps=agent.max_steps,
            tools=toolbox,
            keeps_state=agent.keep_agent_state,
        )

    async def begin(self) -> None:
        """Find before any trial what each of them would meet.

        Raises:
            TargetError: the server cannot be asked, a model is unknown, the agent cannot be made.
        """
        await check_models(self._server, self._run_context.models)
        await self._set_up()
        self._may_have_made = True
        await self._maker.prepare()
        if self._agent.warm_up and self._maker.is_rehearsed:
            await self._rehearse()

    async def _set_up(self) -> None:
        script = self._agent.setup_script
        if script is None:
            return
        client = self._client(AsyncLetta)
        models = self._run_context.models or (DEFAULT,)
        for model in models if takes_model(script) else models[:1]:
            await set_up(script, client, None if model == DEFAULT else model)

    async def _rehearse(self) -> None:
        models = self._run_context.models or (DEFAULT,)
        context = AttemptContext(
            sample=Sample(id="", input=""),
            model=models[0],
            epoch=0,
            attempt=0,
            fixtures={},
            wait=_no_wait,
        )
        await self._leftovers.discard(await self._maker.make(context))

    async def open(self, context: AttemptContext) -> Session:
        """Open a session with an agent that is made for it.

        What the server refuses for now, as one does that is being restarted, is waited for: an
        agent that was half made is no loss.

        Raises:
            TargetError: the agent cannot be made.
        """
        agent = await resend(lambda: self._maker.make(context), wait=context.wait)
        return LettaSession(self._server, agent, self._manners, context, self._leave(agent))

    def _leave(self, agent: MadeAgent) -> Callable[[], Awaitable[None]]:
        """Return what is done with an agent when its trial is over."""

        async def leave() -> None:
            if isinstance(self._maker, ExistingMaker):
                self._maker.release()
            elif self._agent.keep_agents:
                await self._leftovers.keep(agent)
            else:
                await self._leftovers.discard(agent)

        return leave

    async def close(self) -> None:
        """Delete what is left, give lent agents their models back, and close the clients."""
        try:
            if self._may_have_made:
                await self._lent.give_back()
                await self._leftovers.sweep(everything=not self._agent.keep_agents)
        finally:
            for client in self._clients:
                await client.close()
            await self._server.close()


async def _no_wait(_seconds: float) -> NoReturn:
    raise TargetError("an agent that is only made waits for nothing", code="rate_limited")


async def clean_server(agent: LettaAgent, run_id: str) -> Sequence[str]:
    """Delete what a run made on a server; return a line for each thing.

    Raises:
        TargetError: the server cannot be asked, or does not do it.
    """
    server = make_server(agent, concurrency=1)
    try:
        return [*await give_back_lent(server, run_id), *await delete_run(server, run_id)]
    finally:
        await server.close()
