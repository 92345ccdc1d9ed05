"""Clients of a Letta server: an address and a key in; one for us, one for the user's functions.

The client for the user's agent factories puts our tags on every agent that it makes, and remembers
which it made: those are deleted after their trial, and no others.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Self

import httpx
import letta_client
from letta_client import AsyncLetta

from harness.endpoints.failures import failure
from harness.system.json_values import load_json
from harness.targets.letta_marking import mark_imported
from harness.targets.letta_server import LettaServer

_NO_KEY = "none"  # given none, the client would take that of LETTA_API_KEY
_CONNECT_SECONDS = 30.0  # an address that does not answer is an outage, not a slow agent
_KEEP_SECONDS = 3.0  # the server closes idle connections after 5 s
_PROXY_FREE = ("all://localhost", "all://127.0.0.1", "all://[::1]")
_MADE: ContextVar[list[Any] | None] = ContextVar("made_agents", default=None)


def make_client(
    kind: type[AsyncLetta], *, url: str, key: str | None, project: str | None, concurrency: int
) -> AsyncLetta:
    """Make a client of the kind, without time limits but for connecting; its maker closes it.

    Without a project, that of LETTA_PROJECT_ID is meant.

    Raises:
        TargetError: `bad_request`, where `url` is no address.
    """
    limits = httpx.Limits(
        max_connections=None,
        max_keepalive_connections=max(concurrency, 1),
        keepalive_expiry=_KEEP_SECONDS,
    )
    timeout = httpx.Timeout(None, connect=_CONNECT_SECONDS)
    try:
        http = letta_client.DefaultAsyncHttpxClient(
            limits=limits,
            timeout=timeout,
            mounts=dict.fromkeys(_PROXY_FREE),
            event_hooks={"response": [_note_made]},
        )
        return kind(
            base_url=url,
            api_key=key or _NO_KEY,
            project_id=project or os.environ.get("LETTA_PROJECT_ID") or None,
            max_retries=0,
            timeout=timeout,
            http_client=http,
        )
    except Exception as error:
        # What a client cannot be made with is an option of the suite.
        secrets = (key,) if key else ()
        raise failure(f"base_url {url}: {error}", code="bad_request", secrets=secrets) from error


class FactoryClient(AsyncLetta):
    """The client that an agent factory receives: the agents that it makes bear `agent_tags`.

    Its blocks that are made with the agent bear them too, and so does what it imports.
    """

    agent_tags: Sequence[str] = ()

    async def request(self, cast_to: Any, options: Any, **more: Any) -> Any:
        """Make a request; agents that were imported are tagged before the caller knows of them."""
        reply = await super().request(cast_to, options, **more)
        if options.method == "post" and _is_import(options.url):
            for agent_id in _imported(_MADE.get() or ()):
                await mark_imported(LettaServer(self), agent_id, self.agent_tags)
        return reply

    async def _prepare_options(self, options: Any) -> Any:
        options = await super()._prepare_options(options)
        body = options.json_data
        if options.method == "post" and _is_creation(options.url) and isinstance(body, Mapping):
            options.json_data = tagged(body, self.agent_tags)
        return options


async def _note_made(response: httpx.Response) -> None:
    """Note the agents that a request has made, for whoever listens in this context."""
    made, request = _MADE.get(), response.request
    if made is None or request.method != "POST" or response.is_error:
        return
    if _is_creation(request.url.path) or _is_import(request.url.path):
        made.append(_read(await response.aread()))


def _read(data: bytes) -> Any:
    """Return a reply; None for one that cannot be read, which the client complains of."""
    try:
        return load_json(data)
    except (ValueError, RecursionError):
        return None


def _is_creation(path: str) -> bool:
    return path.strip("/") == "v1/agents"


def _is_import(path: str) -> bool:
    return path.strip("/") == "v1/agents/import"


def tagged(body: Mapping[str, Any], tags: Sequence[str]) -> dict[str, Any]:
    """Return the body of a request for an agent with our tags on it and on its own blocks."""
    blocks = body.get("memory_blocks")
    made: dict[str, Any] = {**body, "tags": _with_tags(body, tags)}
    if isinstance(blocks, list | tuple):
        made["memory_blocks"] = [
            {**block, "tags": _with_tags(block, tags)} if isinstance(block, Mapping) else block
            for block in blocks
        ]
    return made


def _with_tags(holder: Mapping[str, Any], tags: Sequence[str]) -> Any:
    own = holder.get("tags")
    if not are_tags(own):
        return own  # the server says what is wrong with it
    return list(dict.fromkeys([*(own or ()), *tags]))


def are_tags(value: Any) -> bool:
    """Say whether something is what the server takes as tags: texts, or None for none."""
    is_list = isinstance(value, list | tuple)
    return value is None or (is_list and all(isinstance(one, str) for one in value))


class MadeAgents:
    """Notes the agents that the user's code makes through a `FactoryClient` inside the context."""

    def __init__(self) -> None:
        self.replies: list[Any] = []

    def __enter__(self) -> Self:
        """Begin to note."""
        self._token = _MADE.set(self.replies)
        return self

    def __exit__(self, *_: object) -> None:
        """Stop noting."""
        _MADE.reset(self._token)

    @property
    def ids(self) -> list[str]:
        """Return the ids of the agents that were made."""
        return [one for reply in self.replies for one in _ids(reply)]


def _ids(reply: Any) -> list[str]:
    if not isinstance(reply, Mapping):
        return []
    return _texts([reply.get("id")]) or _imported([reply])


def _imported(replies: Iterable[Any]) -> list[str]:
    """Return the ids of agents among replies to imports."""
    lists = [reply.get("agent_ids") for reply in replies if isinstance(reply, Mapping)]
    return [one for ids in lists if isinstance(ids, list) for one in _texts(ids)]


def _texts(values: Iterable[Any]) -> list[str]:
    return [one for one in values if isinstance(one, str) and one]
