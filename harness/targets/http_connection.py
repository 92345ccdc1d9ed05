"""What the trials of a run share of the target `http`: a client, its headers, and their secrets."""

import os
import ssl
from collections.abc import Iterator, Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import httpx

from harness.endpoints.compressed_replies import ACCEPTED
from harness.endpoints.failures import failure
from harness.system.secret_values import says_secret
from harness.system.variables import VariableError, fill_variables
from harness.targets.http_agent import HttpAgent
from harness.targets.http_exchanges import HttpExchanges
from harness.targets.http_session import HttpSession
from harness.targets.http_templates import placeholders_in
from harness.types.errors import TargetError
from harness.types.protocols import AttemptContext, RunContext, Session

_CONNECT_SECONDS = 30.0  # an address that does not answer is an outage, not a slow agent
_PROXY_FREE = ("all://localhost", "all://127.0.0.1", "all://[::1]")
_SECRET_HEADERS = frozenset({"authorization", "proxy-authorization"})


class HttpConnection:
    """Opens sessions over one client, whose connections are used again."""

    def __init__(self, agent: HttpAgent, run_context: RunContext) -> None:
        secrets = set(_secrets_in(agent.request)) | set(_secrets_of(agent.url))
        headers = {name: _filled(name, text, secrets) for name, text in agent.headers.items()}
        self._agent = agent
        self._client = _client(agent, run_context.concurrency)
        self._exchanges = HttpExchanges(self._client, agent, headers, frozenset(secrets))

    async def open(self, context: AttemptContext) -> Session:
        """Open a session, with the request that starts one where there is such a request.

        Raises:
            TargetError: the server does not start it.
        """
        session = HttpSession(self._agent, self._exchanges, context)
        await session.start()
        return session

    async def close(self) -> None:
        """Close the client."""
        await self._client.aclose()


def _filled(name: str, text: str, secrets: set[str]) -> str:
    """Fill in the variables of a header; what is secret about it is added to `secrets`.

    Raises:
        TargetError: `unauthorized`, where a variable is not set.
    """
    values: list[str] = []
    try:
        filled = fill_variables(text, os.environ, on_value=values.append)
    except VariableError as error:
        raise TargetError(f"the header {name}: {error}", code="unauthorized") from error
    named = name.lower() in _SECRET_HEADERS or says_secret(name.replace("-", "_"))
    if named and not placeholders_in(text):
        # Without the scheme before it: `Bearer <key>`.
        values += [filled, filled.partition(" ")[2]]
    secrets.update(filter(None, values))
    return filled


def _secrets_in(template: Any) -> Iterator[str]:
    """Yield what fields of the body hold that are called like secrets."""
    if isinstance(template, Mapping):
        for key, value in template.items():
            if isinstance(value, str) and says_secret(str(key)) and not placeholders_in(value):
                yield value
            yield from _secrets_in(value)
    elif isinstance(template, list | tuple):
        for item in template:
            yield from _secrets_in(item)


def _secrets_of(url: str) -> Iterator[str]:
    """Yield the password in an address, and the values of its query that are called secrets."""
    parts = urlsplit(url)
    if parts.password:
        yield unquote(parts.password)
    for name, value in parse_qsl(parts.query):
        if says_secret(name) and not placeholders_in(value):
            yield value


def _client(agent: HttpAgent, concurrency: int) -> httpx.AsyncClient:
    """Make a client that sends each request once, and keeps no cookies.

    Raises:
        TargetError: `bad_request`, where `ca_file` holds no certificate.
    """
    connections = httpx.Limits(max_connections=None, max_keepalive_connections=max(concurrency, 1))
    try:
        verify = True if agent.ca_file is None else _trusting(agent.ca_file.path)
    except (OSError, ValueError) as error:
        raise failure(f"ca_file {agent.ca_file}: {error}", code="bad_request") from error
    return httpx.AsyncClient(
        headers=dict(ACCEPTED),
        limits=connections,
        timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
        verify=verify,
        mounts=dict.fromkeys(_PROXY_FREE),
        # Cookies are a conversation's, and never shared between two of them.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
    )


def _trusting(file: os.PathLike[str]) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=file)
