"""An agent behind a URL, on loopback: an aiohttp server that shares no code with Regrade.

`answer(request)` decides on each request: it is given a `Seen`, and returns a `web.Response`, a
`Streamed` or a `Raw`; or it is awaited for one.
"""

import asyncio
import inspect
import json
import struct
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from socket import SO_LINGER, SOL_SOCKET

from aiohttp import web


@dataclass(frozen=True)
class Seen:
    """A request as it came: `json` is its body, None for one without; `peer` its connection."""

    method: str
    path: str
    query: dict
    headers: dict
    json: object
    cookies: dict
    peer: object


@dataclass(frozen=True)
class Streamed:
    """Server-sent events: (name, data) pairs or data alone; `cut` ends them as `end` says.

    `end` is `whole`, `close` (as if all were sent), `reset` or `hang`.
    """

    events: tuple = ()
    end: str = "whole"
    headers: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Raw:
    """A body that is sent as it is, with a length that may be too long; or repeated for ever."""

    body: bytes
    kind: str = "application/json"
    length: int | None = None
    forever: bool = False


class AgentServer:
    """The running server: its `url`, and the requests that it has `seen`."""

    def __init__(self, answer):
        self.answer = answer
        self.seen = []
        self.url = ""

    async def handle(self, request):
        """Answer one request."""
        body = await request.read()
        seen = Seen(
            method=request.method,
            path=request.raw_path.partition("?")[0],
            query=dict(request.query),
            headers={name.lower(): value for name, value in request.headers.items()},
            json=json.loads(body) if body else None,
            cookies=dict(request.cookies),
            peer=request.transport.get_extra_info("peername"),
        )
        self.seen.append(seen)
        answer = self.answer(seen)
        if inspect.isawaitable(answer):
            answer = await answer
        if isinstance(answer, Streamed):
            return await _stream(request, answer)
        return await _raw(request, answer) if isinstance(answer, Raw) else answer


def event(value, name=None):
    """Write one event; a value that is no text is sent as JSON."""
    data = value if isinstance(value, str) else json.dumps(value)
    lines = "".join(f"data: {line}\n" for line in data.split("\n"))
    return (f"event: {name}\n{lines}\n" if name else f"{lines}\n").encode()


async def _stream(request, answer):
    headers = {"content-type": "text/event-stream", **answer.headers}
    response = web.StreamResponse(headers=headers)
    if answer.end == "close":
        response.force_close()
        response._length_check = False
    else:
        response.enable_chunked_encoding()
    await response.prepare(request)
    for one in answer.events:
        await response.write(event(*reversed(one)) if isinstance(one, tuple) else event(one))
    await _end(request, answer.end)
    return response


async def _end(request, end):
    if end == "hang":
        await asyncio.sleep(60)
    if end in {"reset", "close"}:
        # What was written is on its way before the connection breaks.
        await asyncio.sleep(0.05)
        if end == "reset":
            sock = request.transport.get_extra_info("socket")
            sock.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
        request.transport.abort()


async def _raw(request, answer):
    response = web.StreamResponse(headers={"content-type": answer.kind})
    if not answer.forever:
        response.content_length = answer.length or len(answer.body)
    await response.prepare(request)
    await response.write(answer.body)
    while answer.forever:
        await response.write(answer.body)
    if answer.length is not None:
        await _end(request, "close")
    return response


@asynccontextmanager
async def agent_server(answer, *, ssl_context=None):
    """Run a server that answers so; `answer` may be a list of answers, the last for ever."""
    if isinstance(answer, list):
        left = list(answer)
        answer = lambda _: _own(left.pop(0) if len(left) > 1 else left[0])  # noqa: E731
    server = AgentServer(answer)
    application = web.Application(client_max_size=10**8)
    application.router.add_route("*", "/{rest:.*}", server.handle)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=ssl_context)
        await site.start()
        scheme = "http" if ssl_context is None else "https"
        server.url = f"{scheme}://127.0.0.1:{runner.addresses[0][1]}"
        yield server
    finally:
        await runner.cleanup()


def _own(answer):
    """Give a response that is sent for the first time: aiohttp sends none twice."""
    if not isinstance(answer, web.Response):
        return answer
    return web.Response(body=answer.body, status=answer.status, headers=answer.headers)


def says(text, **fields):
    """Answer with the text under `reply`."""
    return web.json_response({"reply": text, **fields})
