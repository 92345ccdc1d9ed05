"""A Letta server over HTTP: requests go in, JSON comes out, every failure as a `TargetError`.

Requests are made by letta-client, once each: its own retries would repeat a turn. Replies are read
from the bytes that came, since making the client's objects of them takes longer than all the rest.
"""

import asyncio
import json
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import quote

import httpx
import letta_client
from letta_client import AsyncLetta

from harness.endpoints.compressed_replies import inflated
from harness.endpoints.failures import failure
from harness.system.json_values import load_json
from harness.system.redaction import redacted_line
from harness.system.threads import in_thread
from harness.targets.letta_failures import letta_failure
from harness.targets.letta_shapes import Imported, Thing, require_shape
from harness.types.errors import TargetError

MOST_BYTES = 256_000_000
"""How long a reply may be, in bytes; an exported agent holds its whole history."""

_LONG = 1_000_000
_PAGE = 100
_SHOWN = 200
_LOST = frozenset({"connection_lost"})


def path_of(*parts: str) -> str:
    """Return a path of the API; ids may hold anything."""
    return "/".join(["/v1", *(quote(part, safe="") for part in parts)])


class LettaServer:
    """A server, and the secrets that no message about it may hold.

    `key_hint` says where the key came from, for the case that the server refuses it.
    """

    def __init__(
        self, client: AsyncLetta, secrets: Collection[str] = (), *, key_hint: str = ""
    ) -> None:
        self.client = client
        self.secrets = secrets
        self.key_hint = key_hint

    @property
    def url(self) -> str:
        """Return the address of the server."""
        return str(self.client.base_url).rstrip("/")

    def hide(self, secrets: Iterable[str]) -> None:
        """Let messages and events hold these secrets as little as those that were known before."""
        fresh = [one for one in secrets if one and one not in self.secrets]
        self.secrets = (*self.secrets, *fresh)

    async def close(self) -> None:
        """Close the client and its connections."""
        await self.client.close()

    async def get(
        self, path: str, query: Mapping[str, Any] | None = None, *, shape: Any = Any
    ) -> Any:
        """Read something of a shape of `letta_shapes`; asked twice where the connection is lost."""
        return await self._twice(lambda: self._get(path, query, shape))

    async def post(self, path: str, body: Any = None, *, shape: Any = Any) -> Any:
        """Make something; the reply has a shape of `letta_shapes`."""
        request = self.client.post(path, cast_to=httpx.Response, body=body)
        return await self._json(request, shape)

    async def patch(self, path: str, body: Any = None, *, shape: Any = Any) -> Any:
        """Change something; the reply has a shape of `letta_shapes`."""
        request = self.client.patch(path, cast_to=httpx.Response, body=body)
        return await self._json(request, shape)

    async def delete(self, path: str) -> None:
        """Delete something, which may be gone already."""

        async def delete() -> None:
            try:
                await self._reply(self.client.delete(path, cast_to=httpx.Response))
            except TargetError as error:
                if error.code != "not_found":
                    raise

        await self._twice(delete)

    async def pages(
        self, path: str, query: Mapping[str, Any] | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """Yield the items of a list, the oldest first and each once.

        The newest first, the server repeats pages and leaves others out.
        """
        seen: set[str] = set()
        after: dict[str, str] = {}
        while True:
            asked = {**(query or {}), "order": "asc", "limit": _PAGE, **after}
            page = await self.get(path, asked, shape=list[Thing])
            fresh = [item for item in page if item["id"] not in seen]
            for item in fresh:
                seen.add(item["id"])
                yield item
            if len(page) < _PAGE or not fresh:
                return
            after = {"after": page[-1]["id"]}

    async def import_agent(self, data: bytes, secrets: Mapping[str, str]) -> list[str]:
        """Make the agents of an agent file; return their ids."""
        with self._failures():
            imported = await self.client.agents.with_raw_response.import_file(
                file=("agent.af", data, "application/json"),
                append_copy_suffix=False,
                override_existing_tools=False,
                secrets=json.dumps(dict(secrets)) if secrets else letta_client.omit,
            )
        found = await self._read_answer(imported.http_response, Imported)
        made: list[str] = found["agent_ids"]
        return made

    @asynccontextmanager
    async def message(
        self, agent_id: str, body: Mapping[str, Any], *, streaming: bool
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Send messages to an agent; the context gives the bytes of the reply as they come.

        Raises:
            TargetError: there is no reply, or it broke off.
        """
        with self._failures():
            # All of the body goes as `extra_body`, which the client sends as it is.
            async with self.client.agents.messages.with_streaming_response.create(
                agent_id, streaming=streaming, extra_body=dict(body)
            ) as response:
                raw = response.http_response.aiter_raw()
                yield self._bounded(inflated(raw, response.headers, self.url))

    async def _bounded(self, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        length = 0
        async for part in parts:
            length += len(part)
            if length > MOST_BYTES:
                message = f"{self.url}: the reply is longer than {MOST_BYTES // 1_000_000} MB"
                raise failure(message, code="bad_reply")
            yield part

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Raise the `TargetError` of what the client raises; anything else as it is."""
        try:
            yield
        except TargetError:
            raise
        except Exception as error:
            known = letta_failure(error, secrets=self.secrets, key_hint=self.key_hint)
            if known is None:
                raise
            raise known from error

    async def read(self, data: bytes, place: str) -> Any:
        """Read JSON, in a thread where it is long.

        Raises:
            TargetError: `bad_reply`.
        """
        try:
            return await in_thread(load_json, data) if len(data) > _LONG else load_json(data)
        except (ValueError, RecursionError) as error:
            shown = redacted_line(data.decode(errors="replace"), _SHOWN, self.secrets)
            message = f"{place}: {error}: {shown}"
            raise failure(message, code="bad_reply", secrets=self.secrets) from error

    async def _get(self, path: str, query: Mapping[str, Any] | None, shape: Any) -> Any:
        options: Any = {"params": dict(query or {})}
        return await self._json(
            self.client.get(path, cast_to=httpx.Response, options=options), shape
        )

    async def _json(self, request: Awaitable[httpx.Response], shape: Any) -> Any:
        return await self._read_answer(await self._reply(request), shape)

    async def _read_answer(self, response: httpx.Response, shape: Any) -> Any:
        place = f"{response.request.method} {str(response.request.url).partition('?')[0]}"
        answer = await self.read(response.content, place) if response.content else None
        require_shape(answer, shape, place)
        return answer

    async def _reply(self, request: Awaitable[httpx.Response]) -> httpx.Response:
        with self._failures():
            return await request

    async def _twice(self, ask: Callable[[], Awaitable[Any]]) -> Any:
        """Ask again where the connection is lost: after an error the server closes it."""
        try:
            return await ask()
        except TargetError as error:
            if error.code not in _LOST:
                raise
        await asyncio.sleep(0)
        return await ask()
