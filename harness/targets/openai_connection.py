"""What the trials of a run share of the target `openai`: HTTP clients, keys and tools."""

import ipaddress
import os
from contextlib import aclosing
from typing import Any
from urllib.parse import urlsplit

import openai

from harness.targets.endpoints import Endpoint
from harness.targets.failures import failure
from harness.targets.openai_agent import OpenAIAgent
from harness.targets.openai_session import OpenAISession
from harness.targets.toolbox import Toolbox, build_toolbox
from harness.types.errors import TargetError
from harness.types.protocols import AttemptContext, RunContext, Session
from harness.types.suites import SCRIPTED

_NO_KEY = "none"
_CONNECT_SECONDS = 30.0  # an address that does not answer is an outage, not a slow agent
_MOST_OF_ERROR = 100_000  # bytes; what an endpoint says of an error is shorter
_PROXY_FREE = ("all://localhost", "all://127.0.0.1", "all://[::1]")


class OpenAIConnection:
    """Opens sessions, with one client for the endpoint and one for the scripted server."""

    def __init__(self, agent: OpenAIAgent, run_context: RunContext) -> None:
        self._agent = agent
        self._run_context = run_context
        self._tools: Toolbox = {}
        if agent.tools is not None:
            self._tools = build_toolbox(agent.tools, run_context.fixture_names)
        self._clients: dict[bool, openai.AsyncOpenAI] = {}

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
            self._key(self._base_url())

    async def close(self) -> None:
        """Close the clients."""
        for client in self._clients.values():
            await client.close()

    def _endpoint(self, *, scripted: bool) -> Endpoint:
        url = self._run_context.scripted_url if scripted else self._base_url()
        if scripted and url is None:
            raise TargetError(
                "the scripted model server is not running",
                code="not_found",
                hint="name the script of the models as target.script",
            )
        key = _NO_KEY if scripted else self._key(url)
        if scripted not in self._clients:
            self._clients[scripted] = self._client(url, key)
        return Endpoint(self._clients[scripted], () if key == _NO_KEY else (key,))

    def _base_url(self) -> str | None:
        return self._agent.base_url or os.environ.get("OPENAI_BASE_URL") or None

    def _key(self, url: str | None) -> str:
        name = self._agent.api_key_env
        key = os.environ.get(name, "").strip()
        if key and key.isascii() and key.isprintable():
            return key
        if key:
            raise TargetError(
                f"the environment variable {name} holds characters that are invalid in a key",
                code="unauthorized",
                hint=f"set {name} again",
            )
        if url is not None and _is_loopback(url):
            return _NO_KEY
        raise TargetError(
            f"there is no key: the environment variable {name} is not set",
            code="unauthorized",
            hint=f"set {name}, or name another variable as target.api_key_env",
        )

    def _client(self, url: str | None, key: str) -> openai.AsyncOpenAI:
        # The limits' class is that of the HTTP library which the SDK uses, whichever it is.
        limits = type(openai.DEFAULT_CONNECTION_LIMITS)(
            max_connections=None,
            max_keepalive_connections=max(self._run_context.concurrency, 1),
        )
        timeout = openai.Timeout(None, connect=_CONNECT_SECONDS)
        try:
            http = openai.DefaultAsyncHttpxClient(
                limits=limits,
                timeout=timeout,
                mounts=dict.fromkeys(_PROXY_FREE),
                event_hooks={"response": [_read_error]},
            )
            return openai.AsyncOpenAI(
                base_url=url, api_key=key, max_retries=0, timeout=timeout, http_client=http
            )
        except Exception as error:
            # What a client cannot be made with is an option of the suite.
            message = f"base_url {url}: {error}"
            raise failure(message, code="bad_request", secrets=(key,)) from error


async def _read_error(response: Any) -> None:
    """Read the beginning of an error's body: the SDK would read it to its end, if it has one."""
    if not response.is_error:
        return
    data = bytearray()
    async with aclosing(response.aiter_bytes()) as parts:
        async for part in parts:
            data += part
            if len(data) > _MOST_OF_ERROR:
                break
    await response.aclose()
    response._content = bytes(data[:_MOST_OF_ERROR])  # noqa: SLF001  (nothing else keeps a part)


def _is_loopback(url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
