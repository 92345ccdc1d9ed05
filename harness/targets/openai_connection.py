"""What the trials of a run share of the target `openai`: HTTP clients, keys and tools."""

from harness.endpoints.clients import make_endpoint
from harness.endpoints.endpoints import Endpoint
from harness.endpoints.keys import find_key
from harness.targets.openai_agent import OpenAIAgent
from harness.targets.openai_session import OpenAISession
from harness.targets.toolbox import Toolbox, build_toolbox
from harness.types.errors import TargetError
from harness.types.protocols import AttemptContext, RunContext, Session
from harness.types.suites import SCRIPTED


class OpenAIConnection:
    """Opens sessions, with one client for the endpoint and one for the scripted server."""

    def __init__(self, agent: OpenAIAgent, run_context: RunContext) -> None:
        self._agent = agent
        self._run_context = run_context
        self._tools: Toolbox = {}
        if agent.tools is not None:
            self._tools = build_toolbox(agent.tools, run_context.fixture_names)
        self._endpoints: dict[bool, Endpoint] = {}

    async def open(self, context: AttemptContext) -> Session:
        """Open a session.

        Raises:
            TargetError: `unauthorized`, where there is no key; `bad_request`, where `base_url` is
                invalid.
        """
        return OpenAISession(
            agent=self._agent,
            endpoint=self._endpoint(scripted=context.model.startswith(SCRIPTED)),
            tools=self._tools,
            context=context,
        )

    def require_key(self) -> None:
        """Check before any trial that there is a key, where every model of the run needs one.

        Raises:
            TargetError: `unauthorized`.
        """
        models = self._run_context.models
        if models and not any(model.startswith(SCRIPTED) for model in models):
            self._key(self._agent.url)

    async def close(self) -> None:
        """Close the endpoints."""
        for endpoint in self._endpoints.values():
            await endpoint.close()

    def _endpoint(self, *, scripted: bool) -> Endpoint:
        url = self._run_context.scripted_url if scripted else self._agent.url
        if scripted and url is None:
            raise TargetError(
                "the scripted model server is not running",
                code="not_found",
                hint="name the script of the models as target.script",
            )
        if scripted not in self._endpoints:
            key = None if scripted else self._key(url)
            concurrency = self._run_context.concurrency
            self._endpoints[scripted] = make_endpoint(url, key, concurrency=concurrency)
        return self._endpoints[scripted]

    def _key(self, url: str | None) -> str | None:
        names = (self._agent.api_key_env,)
        return find_key(names, url=url, option="target.api_key_env")
